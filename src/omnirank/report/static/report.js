"use strict";
(() => {
  const all = (where, what) => Array.from(where.querySelectorAll(what));
  const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

  const keyOf = (cell) => {
    if (cell === undefined) return null;
    const text = cell.dataset.k ?? cell.textContent.trim();
    const value = Number(text);
    return text === "" || Number.isNaN(value) ? null : value;
  };

  const sort = (table, place) => {
    const heads = all(table, "thead th");
    const head = heads[place];
    const numbers = !head.classList.contains("t");
    const before = head.getAttribute("aria-sort");
    const first = numbers && !/^(rank|p$|p )/.test(head.textContent.trim()) ? "descending" : "ascending";
    const now = before === null ? first : before === "ascending" ? "descending" : "ascending";
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", now);
    const sign = now === "ascending" ? 1 : -1;
    const body = table.tBodies[0];
    const rows = Array.from(body.rows).map((row, i) => {
      const cell = row.cells[place];
      return { row, i, key: numbers ? keyOf(cell) : cell.textContent.trim() };
    });
    rows.sort((a, b) => {
      if (a.key === null || b.key === null) return (a.key === null) - (b.key === null) || a.i - b.i;
      return sign * (numbers ? a.key - b.key : collator.compare(a.key, b.key)) || a.i - b.i;
    });
    body.replaceChildren(...rows.map((entry) => entry.row));
  };

  all(document, "table").forEach((table) => {
    all(table, "thead th button").forEach((button, place) => {
      button.addEventListener("click", () => sort(table, place));
    });
  });

  all(document, "input[type=search]").forEach((input) => {
    const table = document.getElementById(input.dataset.table);
    const status = document.querySelector(`[data-count="${input.dataset.table}"]`);
    input.addEventListener("input", () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      Array.from(table.tBodies[0].rows).forEach((row) => {
        const text = row.textContent.toLowerCase();
        const fits = words.every((word) => text.includes(word));
        row.hidden = !fits;
        shown += fits;
      });
      const total = table.tBodies[0].rows.length;
      status.textContent = words.length ? `${shown} of ${total} ${status.dataset.what}` : `${total} ${status.dataset.what}`;
    });
    input.addEventListener("keydown", (event) => {
      if (event.key === "Escape") {
        input.value = "";
        input.dispatchEvent(new Event("input"));
      }
    });
  });

  all(document, "button[data-file]").forEach((button) => {
    button.addEventListener("click", () => {
      const text = JSON.parse(document.getElementById(button.dataset.from).textContent);
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
      link.download = button.dataset.file;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    });
  });

  all(document, "button[data-copy]").forEach((button) => {
    button.addEventListener("click", () => {
      const range = document.createRange();
      range.selectNodeContents(document.getElementById(button.dataset.copy));
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      document.execCommand("copy");
    });
  });

  document.getElementById("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });

  document.addEventListener("keydown", (event) => {
    const target = event.target;
    if (event.key !== "/" || event.ctrlKey || event.metaKey || /^(INPUT|TEXTAREA)$/.test(target.tagName)) return;
    const search = document.querySelector("input[type=search]");
    if (search) {
      event.preventDefault();
      search.focus();
      search.scrollIntoView({ block: "center" });
    }
  });
})();
