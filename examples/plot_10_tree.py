"""
Draw a C4.5 tree
================

``draw_tree`` draws the tree that ``C45`` learned, with the numbers of cases and errors in each leaf.
"""

from sklearn.datasets import load_iris

from fairtrial.learners import C45
from fairtrial.report import draw_tree

iris = load_iris(as_frame=True)
tree = C45().fit(iris.data, iris.target_names[iris.target])
draw_tree(tree.tree_, title="C4.5 on iris")
