"use strict";
try {
  const kept = localStorage.getItem("fairtrial-theme");
  if (kept === "light" || kept === "dark") document.documentElement.dataset.theme = kept;
} catch (error) { /* a file may have no storage */ }
