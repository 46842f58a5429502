"""Sáez, Luengo and Herrera: robustness of C4.5 and a support vector machine to class noise."""
