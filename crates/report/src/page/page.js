// What a reader can do beyond reading: see values at once, hide datastores, sort tables. The page says
// everything without it. Nothing here fetches, stores or evaluates anything.
"use strict";
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];

  // Values under the pointer or the finger. The browser shows a <title> too, but late, and on no touch screen.
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  document.body.append(tip);

  const titled = (element) => {
    for (let it = element; it instanceof SVGElement && it.localName !== "svg"; it = it.parentNode) {
      const title = all(":scope > title", it)[0];
      if (title) {
        // Or the browser would show it a second time.
        it.setAttribute("aria-label", title.textContent);
        title.remove();
      }
      if (it.hasAttribute("aria-label")) return it;
    }
    return null;
  };

  const show = (event) => {
    const of = event.target instanceof Element ? titled(event.target) : null;
    tip.hidden = !of;
    if (!of) return;
    tip.textContent = of.getAttribute("aria-label");
    const room = document.documentElement.clientWidth - tip.offsetWidth - 8;
    const above = event.clientY - tip.offsetHeight - 14;
    tip.style.left = `${Math.max(8, Math.min(event.clientX + 12, room)) + window.scrollX}px`;
    tip.style.top = `${(above > 4 ? above : event.clientY + 18) + window.scrollY}px`;
  };
  for (const name of ["pointermove", "pointerdown"]) document.addEventListener(name, show);
  document.documentElement.addEventListener("pointerleave", () => (tip.hidden = true));

  // The text of an element becomes that of a button.
  const button = (element, label, press) => {
    const it = document.createElement("button");
    it.type = "button";
    it.title = label;
    it.append(...element.childNodes);
    it.addEventListener("click", () => press(it));
    element.append(it);
    return it;
  };

  // Legends: a click hides what has that colour in the chart, another shows it.
  for (const legend of all(".legend")) {
    const chart = legend.closest("figure") ?? legend.nextElementSibling;
    if (!chart) continue;
    for (const entry of legend.children) {
      const colored = entry.querySelector(".swatch, .fill");
      const color = [...(colored?.classList ?? [])].find((name) => /^[skp]\d+$/.test(name));
      const drawn = color ? all(`svg:not(.key) .${color}`, chart) : [];
      if (drawn.length === 0) continue;
      button(entry, "show or hide", (it) => {
        const hidden = it.getAttribute("aria-pressed") === "true";
        it.setAttribute("aria-pressed", String(!hidden));
        for (const element of drawn) element.classList.toggle("off", hidden);
      }).setAttribute("aria-pressed", "true");
    }
  }

  // Tables: a click on the head of a column sorts by it, another the other way.
  const UNITS = {
    "": 1, "%": 1, ns: 1e-9, "µs": 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600, d: 86400,
    B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3, TiB: 1024 ** 4,
  };
  const NUMBER = /^[<>]?\s*([+−-]?)(\d+(?:[\s\u202f]\d{3})*(?:\.\d+)?)[\s\u202f]*(times|%|[a-zµ]+)?/i;

  // The number that a text starts with, in units of one kind; a multiple as the change that it is.
  const number = (text) => {
    const [, sign, digits, unit = ""] = NUMBER.exec(text.trim()) ?? [];
    if (digits === undefined) return null;
    const size = Number(digits.replace(/[\s\u202f]/g, ""));
    if (unit === "times") return (size - 1) * 100;
    return (sign && sign !== "+" ? -1 : 1) * size * (UNITS[unit] ?? 1);
  };
  const order = (a, b) => {
    const [x, y] = [number(a), number(b)];
    if (x !== null && y !== null) return x - y;
    if (x !== null || y !== null) return x !== null ? -1 : 1;
    return a.localeCompare(b);
  };

  // Rows stay below the heading of their group.
  const sort = (body, column, direction) => {
    // Each text is read once: a table may have thousands of rows.
    const texts = new Map([...body.rows].map((row) => [row, row.cells[column]?.innerText ?? ""]));
    let group = [];
    const flush = (before) => {
      group.sort((a, b) => direction * order(texts.get(a), texts.get(b)));
      for (const row of group) body.insertBefore(row, before);
      group = [];
    };
    for (const row of [...body.rows]) {
      if (row.classList.contains("group")) flush(row);
      else group.push(row);
    }
    flush(null);
  };

  for (const table of all("table")) {
    const [body] = table.tBodies;
    const heads = all("thead th", table);
    if (!body || body.rows.length < 3) continue;
    heads.forEach((head, column) => {
      if (head.textContent === "") return;
      button(head, "sort by this column", () => {
        const direction = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
        for (const other of heads) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
        sort(body, column, direction);
      });
    });
  }

  // Long tables: rows without all the words that are typed are hidden.
  for (const table of all("table.filtered")) {
    const rows = [...table.tBodies[0].rows];
    if (rows.length < 3) continue;
    const input = document.createElement("input");
    input.type = "search";
    input.className = "filter";
    input.placeholder = "filter by words";
    input.setAttribute("aria-label", "filter by words");
    const count = document.createElement("p");
    count.className = "count";
    count.setAttribute("role", "status");
    const frame = table.closest(".scroll");
    frame.before(input, count);
    let texts = null;
    input.addEventListener("input", () => {
      texts ??= rows.map((row) => row.textContent.toLowerCase());
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      rows.forEach((row, place) => {
        row.hidden = !words.every((word) => texts[place].includes(word));
        if (!row.hidden) shown += 1;
      });
      count.textContent = words.length === 0 ? "" : `${shown} of ${rows.length}`;
    });
  }

  // A link into something folded opens it.
  const unfold = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let it = target; it; it = it.parentElement) if (it.localName === "details") it.open = true;
    target.scrollIntoView();
  };
  window.addEventListener("hashchange", unfold);
  unfold();
})();
