"use strict";
(() => {
  const table = document.getElementById("students-table");
  const body = table.tBodies[0];
  const entries = Array.from(body.rows, (row) => ({
    row,
    part: document.getElementById(row.cells[0].querySelector("a").hash.slice(1)),
    text: `${row.textContent} ${row.dataset.find || ""}`.toLowerCase(),
  }));
  const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

  // What is not known comes last, either way.
  const compare = (direction, isNumber) => (one, other) => {
    if (one.isMissing || other.isMissing) return one.isMissing - other.isMissing;
    return direction * (isNumber ? one.key - other.key : collator.compare(one.key, other.key));
  };

  const sortBy = (heading, column) => {
    const direction = heading.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    const isNumber = heading.classList.contains("n");
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
    for (const entry of entries) {
      const text = entry.row.cells[column].textContent.trim();
      entry.key = isNumber ? Number.parseFloat(text) : text;
      entry.isMissing = isNumber ? Number.isNaN(entry.key) : text === "";
    }
    entries.sort(compare(direction, isNumber));
    body.append(...entries.map((entry) => entry.row));
  };

  Array.from(table.tHead.rows[0].cells).forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    button.addEventListener("click", () => sortBy(heading, column));
    heading.append(button);
  });

  const search = document.getElementById("search");
  const count = document.getElementById("count");
  const apply = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const entry of entries) {
      const fits = words.every((word) => entry.text.includes(word));
      entry.row.hidden = !fits;
      if (entry.part) entry.part.hidden = !fits;
      shown += fits;
    }
    count.textContent = words.length ? `${shown} of ${entries.length} shown` : `${entries.length} shown`;
  };
  let timer = 0;
  search.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(apply, 120);
  });
  search.closest(".controls").hidden = false;
  apply();

  const reveal = () => {
    const part = /^#s\d+$/.test(location.hash) ? document.getElementById(location.hash.slice(1)) : null;
    if (!part) return;
    if (part.hidden) {
      search.value = "";
      apply();
    }
    part.open = true;
    part.querySelector("summary").focus();
    part.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  // A link that was followed before changes no hash.
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#s"]');
    if (link && link.hash === location.hash) reveal();
  });
  reveal();

  let opened = [];
  addEventListener("beforeprint", () => {
    opened = Array.from(document.querySelectorAll("details.part:not([open])"));
    for (const part of opened) part.open = true;
  });
  addEventListener("afterprint", () => {
    for (const part of opened) part.open = false;
  });
})();
