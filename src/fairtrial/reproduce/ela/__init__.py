"""Sáez, Luengo and Herrera: the loss of accuracy under class noise of C4.5 and a support vector machine."""
