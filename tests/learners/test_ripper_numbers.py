"""System.out.println of doubles, and weka.core.Utils.doubleToString with six digits, wrote the numbers."""

from fairtrial.learners.encoding import format_decimal, format_double


def test_doubles_as_java_writes_them():
    numbers = [1e-4, 12345678.5, 1e7, 0.001, 9999999.0, 1.5e-10]
    assert " ".join(map(format_double, numbers)) == "1.0E-4 1.23456785E7 1.0E7 0.001 9999999.0 1.5E-10"


def test_decimals_as_weka_writes_them():
    numbers = [0.1234565, -0.0000004, -2.5, 1e13, 1e20, 0.05, 123.456, -0.000001]
    assert " ".join(map(format_decimal, numbers)) == "0.123457 0 -2.5 1.0E13 1.0E20 0.05 123.456 -0.000001"
