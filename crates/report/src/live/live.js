"use strict";
(() => {
  const at = (id) => document.getElementById(id);
  const maps = new Map();
  let now = 1;
  // The lowest latency of a band, as crates/trial/src/latency_bands.rs has it: a quarter of an octave each.
  const low = (band) => (band < 4 ? band * 128 : (512 + (band % 4) * 128) * 2 ** (Math.floor(band / 4) - 1));
  const words = (ns) => (ns < 1e3 ? `${ns} ns` : ns < 1e6 ? `${ns / 1e3} µs` : ns < 1e9 ? `${ns / 1e6} ms` : `${ns / 1e9} s`);
  const clock = (s) => (s < 120 ? `${s} s` : s < 7200 ? `${s / 60} min` : `${s / 3600} h`);
  const steps = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600, 10800, 21600, 86400];

  function mapOf(group, name) {
    if (maps.has(group)) return maps.get(group);
    const figure = document.createElement("div");
    const title = document.createElement("p");
    const canvas = document.createElement("canvas");
    figure.className = `map s${group % 7}`;
    title.textContent = name;
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `Latencies of ${name} over time`);
    figure.append(title, canvas);
    // In the order of the datastores, whichever is measured first.
    const after = [...maps].filter(([other]) => other > group).sort(([one], [other]) => one - other)[0];
    at("maps").insertBefore(figure, after ? after[1].figure : null);
    at("heat").hidden = false;
    const map = { canvas, figure, columns: [] };
    maps.set(group, map);
    return map;
  }

  function range() {
    let first = Infinity, last = 0;
    for (const { columns } of maps.values()) {
      for (const [, , from, counts] of columns) {
        if (counts.length === 0) continue;
        first = Math.min(first, from);
        last = Math.max(last, from + counts.length);
      }
    }
    return [first, last];
  }

  function draw({ canvas, figure, columns }, [first, last]) {
    const scale = window.devicePixelRatio || 1;
    const [wide, high] = [canvas.clientWidth, canvas.clientHeight];
    canvas.width = wide * scale;
    canvas.height = high * scale;
    const pen = canvas.getContext("2d");
    const style = getComputedStyle(figure);
    pen.scale(scale, scale);
    // The margins of the charts, which shrink with the page; letters here do not.
    const [left, right, bottom] = [Math.max((66 * wide) / 760, 46), wide - (12 * wide) / 760, high - 18];
    const [lowest, highest] = [Math.log(Math.max(low(first), 1)), Math.log(low(last))];
    const y = (ns) => bottom - ((Math.log(Math.max(ns, 1)) - lowest) / (highest - lowest)) * (bottom - 4);
    const x = (s) => left + (s / now) * (right - left);
    pen.font = "11px system-ui, sans-serif";
    pen.fillStyle = style.getPropertyValue("--soft");
    pen.strokeStyle = style.getPropertyValue("--faint");
    pen.textAlign = "right";
    for (let ns = 1; ns < low(last); ns *= 10) {
      if (ns < low(first)) continue;
      pen.fillText(words(ns), left - 6, y(ns) + 4);
      pen.beginPath();
      pen.moveTo(left, y(ns));
      pen.lineTo(right, y(ns));
      pen.stroke();
    }
    pen.textAlign = "center";
    const step = steps.find((one) => now / one <= 8) || Math.ceil(now / 8 / 86400) * 86400;
    for (let s = 0; s <= now; s += step) {
      const label = clock(Math.round(s * 10) / 10);
      const half = pen.measureText(label).width / 2;
      pen.fillText(label, Math.min(x(s), wide - half), high - 4);
    }
    pen.fillStyle = style.getPropertyValue("--c");
    for (const [start, length, from, counts] of columns) {
      const most = Math.max(...counts, 1);
      const width = Math.max(x(start + length) - x(start), 1);
      counts.forEach((count, index) => {
        if (count === 0) return;
        pen.globalAlpha = 0.1 + 0.9 * Math.sqrt(count / most);
        const top = y(low(from + index + 1));
        pen.fillRect(x(start), top, width, y(low(from + index)) - top + 0.3);
      });
    }
    pen.globalAlpha = 1;
  }

  function drawAll() {
    const shown = range();
    if (shown[1] > 0) for (const map of maps.values()) draw(map, shown);
  }

  const events = new EventSource("events");
  events.addEventListener("part", (event) => {
    const { id, html } = JSON.parse(event.data);
    at(id).innerHTML = html;
  });
  events.addEventListener("heat", (event) => {
    const data = JSON.parse(event.data);
    now = Math.max(data.now, 1);
    for (const { group, name, from, columns } of data.maps) {
      const map = mapOf(group, name);
      map.columns.length = from;
      map.columns.push(...columns);
    }
    requestAnimationFrame(drawAll);
  });
  events.addEventListener("ended", () => {
    events.close();
    location.replace("report");
  });
  events.onopen = () => { at("lost").hidden = true; };
  events.onerror = () => {
    const lost = at("lost");
    lost.textContent = "The connection to the run is lost; trying again. If the run has ended, its results are in its file: stormeter list.";
    lost.hidden = false;
  };
  addEventListener("resize", drawAll);
  for (const media of ["(prefers-color-scheme: dark)", "print"]) matchMedia(media).addEventListener("change", drawAll);
})();
