"""The five papers whose experiments are repeated: bibliographic references and known errors."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Paper:
    """The bibliographic reference of a paper.

    Attributes
    ----------
    authors, title : str
        The authors' names, and the title as printed.
    source : str
        Journal or book with volume and pages.
    year : int, optional
        Year of publication; None if the paper does not state it.
    doi : str, optional
        Digital object identifier.

    Examples
    --------
    >>> from fairtrial.reproduce.papers import PAPERS
    >>> print(PAPERS["ranking"].reference)
    Berrar (2014). An empirical evaluation of ranking measures with respect to robustness to noise. Journal of Artificial \
Intelligence Research 49, 241-267. https://doi.org/10.1613/jair.4136
    """

    authors: str
    title: str
    source: str
    year: int | None = None
    doi: str | None = None

    @property
    def short(self) -> str:
        """The authors, and the year if it is known."""
        return f"{self.authors} ({self.year})" if self.year else self.authors

    @property
    def reference(self) -> str:
        """The full reference, with a link if the paper has a DOI."""
        link = f" https://doi.org/{self.doi}" if self.doi else ""
        return f"{self.short}. {self.title}. {self.source}.{link}"


PAPERS = {
    "ela": Paper(
        "Sáez, Luengo and Herrera",
        "Evaluating the classifier behavior with noisy data considering performance and robustness: the Equalized Loss of "
        "Accuracy measure",
        "Neurocomputing 176, 26-35",
        2016,
        "10.1016/j.neucom.2014.11.086",
    ),
    "dobscv": Paper(
        "López, Fernández and Herrera",
        "On the importance of the validation technique for classification with imbalanced datasets: addressing covariate shift "
        "when data is skewed",
        "Information Sciences 257, 1-13",
        2014,
        "10.1016/j.ins.2013.09.038",
    ),
    "tutorial": Paper(
        "Japkowicz",
        "Performance evaluation for learning algorithms",
        "Slides of a tutorial after Japkowicz and Shah (2011), Evaluating Learning Algorithms, Cambridge University Press; its "
        "drift study is by Alaiz-Rodríguez and Japkowicz (2008), Assessing the impact of changing environments on classifier "
        "performance, Canadian AI 2008",
    ),
    "ranking": Paper(
        "Berrar",
        "An empirical evaluation of ranking measures with respect to robustness to noise",
        "Journal of Artificial Intelligence Research 49, 241-267",
        2014,
        "10.1613/jair.4136",
    ),
    "estimates": Paper(
        "Galdi and Tagliaferri",
        "Data mining: accuracy and error measures for classification and prediction",
        "Encyclopedia of Bioinformatics and Computational Biology, Elsevier",
        2018,
        "10.1016/B978-0-12-809633-8.20474-3",
    ),
}
"""The papers, keyed by short name, in the order of the overview page."""


def read_errata(experiment: str | None = None) -> pd.DataFrame:
    """Read the known errors in the papers, for one experiment or for all experiments.

    Each row gives the location of an error, the printed text, the correction, and what fairtrial uses instead.

    >>> read_errata("drift").columns.tolist()
    ['experiment', 'where', 'printed', 'right', 'in fairtrial']
    """
    import pandas as pd

    with (resources.files("fairtrial.reproduce") / "published" / "errata.csv").open(encoding="utf-8") as file:
        errata = pd.read_csv(file)
    return errata if experiment is None else errata[errata["experiment"] == experiment].reset_index(drop=True)
