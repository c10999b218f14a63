// The page around the map: data, colours, tooltip, legend, filters, search, light and dark.

(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const unpacked = (text, Kind) => new Kind(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
  const cluster = unpacked(data.cluster, Uint16Array);
  const classes = data.classes && unpacked(data.classes, Uint16Array);
  const confidence = unpacked(data.confidence, Uint8Array);
  const picture = data.picture && unpacked(data.picture, Int32Array);
  const map = new Scatter($("points"), $("marks"), unpacked(data.position, Int16Array));
  const rgb = (hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16));
  const name = (i) => (data.ids ? data.ids[i] : `row ${i}`);

  const LOW = rgb("#e66100"), MIDDLE = rgb("#b7a9bd"), HIGH = rgb("#1f6fb5"); // orange to blue
  const mixed = (a, b, t) => a.map((v, k) => Math.round(v + t * (b[k] - v)));
  const shade = (t) => (t < 0.5 ? mixed(LOW, MIDDLE, 2 * t) : mixed(MIDDLE, HIGH, 2 * t - 1));
  const modes = {
    cluster: { group: cluster, names: data.clusterNames, word: "cluster" },
    class: { group: classes, names: data.classNames, word: "class" },
    confidence: { group: null, names: [] },
  };
  let mode = modes.cluster;
  // What is shown: groups by kind; an empty set stands for all. Filters of both kinds hold at once.
  const kept = { cluster: new Set(), class: new Set() };
  const passes = (kind, i) => !kept[kind].size || kept[kind].has(modes[kind].group[i]);
  const shows = (i) => passes("cluster", i) && passes("class", i);

  function paint() {
    const palette = data.colours.map(rgb), alpha = map.n > 20000 ? 150 : 215;
    let count = 0;
    for (let i = 0; i < map.n; i++) {
      map.colour.set(mode.group ? palette[mode.group[i]] : shade(confidence[i] / 255), 4 * i);
      const seen = shows(i);
      map.colour[4 * i + 3] = seen ? alpha : 0;
      count += seen;
    }
    map.labels = mode.group ? places(mode.group, mode.names) : [];
    map.draw();
    tellShown(count);
  }

  function tellShown(count) {
    const filtered = kept.cluster.size + kept.class.size > 0;
    const parts = Object.keys(kept).filter((kind) => kept[kind].size).map((kind) => {
      const names = [...kept[kind]].map((g) => modes[kind].names[g]);
      return `${modes[kind].word} ${names.slice(0, 4).join(", ")}${names.length > 4 ? ", …" : ""}`;
    });
    $("shown").textContent = filtered ? `Shown: ${parts.join(" and ")}, ${count} of ${map.n} point${map.n === 1 ? "" : "s"}.` : "";
    $("show-all").hidden = !filtered;
    document.querySelectorAll("[data-row-cluster]").forEach((row) => {
      row.classList.toggle("kept", kept.cluster.has(Number(row.dataset.rowCluster)));
    });
  }

  // Show only the points of these groups; without any, all points.
  function keepOnly(groups) {
    for (const kind of Object.keys(kept)) {
      kept[kind].clear();
      if (groups[kind] !== undefined) kept[kind].add(groups[kind]);
    }
    showLegend();
    paint();
  }

  // A group's name stands at its member nearest to the medians; large groups come first.
  function places(group, names) {
    const members = names.map(() => []);
    for (let i = 0; i < map.n; i++) if (shows(i)) members[group[i]].push(i);
    const median = (list, of) => list.map(of).sort((a, b) => a - b)[list.length >> 1];
    return members
      .map((list, g) => ({ list, g }))
      .filter(({ list }) => list.length)
      .sort((a, b) => b.list.length - a.list.length)
      .map(({ list, g }) => {
        const mx = median(list, (i) => map.x(i)), my = median(list, (i) => map.y(i));
        const away = (i) => (map.x(i) - mx) ** 2 + (map.y(i) - my) ** 2;
        const at = list.reduce((best, i) => (away(i) < away(best) ? i : best), list[0]);
        return { x: map.x(at), y: map.y(at), text: names[g].slice(0, 18) };
      });
  }

  function showLegend() {
    const legend = $("legend");
    legend.replaceChildren();
    if (!mode.group) {
      const scale = Object.assign(document.createElement("div"), { className: "scale" });
      const bar = document.createElement("i");
      bar.style.background = `linear-gradient(90deg, ${[0, 0.5, 1].map((t) => `rgb(${shade(t)})`)})`;
      scale.append("0, no confidence", bar, "1, full confidence");
      legend.append(scale);
    }
    mode.names.forEach((text, g) => {
      const button = Object.assign(document.createElement("button"), { type: "button", title: text });
      const dot = Object.assign(document.createElement("i"), { className: "swatch" });
      dot.style.setProperty("--colour", data.colours[g]);
      button.append(dot, text);
      const own = kept[mode.word];
      button.setAttribute("aria-pressed", String(own.has(g)));
      button.onclick = () => {
        if (!own.delete(g)) own.add(g);
        button.setAttribute("aria-pressed", String(own.has(g)));
        paint();
      };
      legend.append(button);
    });
  }

  const facts = (i) => {
    const lines = [`cluster ${data.clusterNames[cluster[i]]}`];
    if (classes) lines.push(`class ${data.classNames[classes[i]]}`);
    lines.push(`confidence ${(confidence[i] / 255).toFixed(2)}`);
    return lines;
  };
  const tip = $("tip");
  map.onHover = (i, px, py) => {
    tip.hidden = i < 0;
    if (i < 0) return;
    tip.replaceChildren();
    if (picture && picture[i] >= 0) {
      const thumb = Object.assign(document.createElement("span"), { className: "thumb" });
      thumb.style.setProperty("--x", picture[i] % data.columns);
      thumb.style.setProperty("--y", Math.floor(picture[i] / data.columns));
      tip.append(thumb);
    }
    const words = document.createElement("div");
    const head = document.createElement("b");
    head.textContent = name(i);
    words.append(head, ...facts(i).flatMap((line) => [document.createElement("br"), line]));
    tip.append(words);
    const area = tip.parentElement;
    const right = px + 16 + tip.offsetWidth > area.clientWidth;
    tip.style.left = `${Math.max(4, right ? px - 16 - tip.offsetWidth : px + 16)}px`;
    tip.style.top = `${Math.max(4, Math.min(py + 12, area.clientHeight - tip.offsetHeight - 6))}px`;
  };
  map.onPick = (i) => {
    $("picked").textContent = i < 0 ? "No point chosen." : `Chosen: ${name(i)}, ${facts(i).join(", ")}.`;
  };

  const colourButtons = document.querySelectorAll("[data-colour]");
  colourButtons.forEach((button) => {
    button.onclick = () => {
      mode = modes[button.dataset.colour];
      colourButtons.forEach((b) => b.setAttribute("aria-pressed", String(b === button)));
      showLegend();
      paint();
    };
  });
  document.querySelectorAll("[data-zoom]").forEach((button) => {
    button.onclick = { in: () => map.zoomAt(1.5), out: () => map.zoomAt(1 / 1.5), all: () => map.reset() }[button.dataset.zoom];
  });
  // All points whose name has the text in it; a row's number and a whole name come first.
  function matches(asked) {
    const text = asked.toLowerCase(), number = /^(row )?\d+$/.test(text) ? Number(text.replace("row ", "")) : -1;
    const found = [];
    for (let i = 0; i < map.n; i++) {
      if (data.ids ? data.ids[i].toLowerCase().includes(text) : i === number) found.push(i);
    }
    const whole = data.ids ? data.ids.indexOf(asked) : -1;
    const first = whole >= 0 ? whole : number >= 0 && number < map.n ? number : -1;
    return first < 0 ? found : [first, ...found.filter((i) => i !== first)];
  }
  // A point that is looked for is shown, even if a filter hid it.
  function reveal(i, note) {
    const hidden = !shows(i);
    if (hidden) keepOnly({});
    map.show(i);
    const words = [note, hidden ? "The filter was removed: it hid this point." : ""].filter(Boolean);
    if (words.length) $("picked").textContent += ` ${words.join(" ")}`;
  }
  let last = { text: "", turn: 0 };
  $("find").onsubmit = (event) => {
    event.preventDefault();
    const text = $("row").value.trim();
    if (!text) return;
    const found = matches(text);
    last = { text, turn: text === last.text ? last.turn + 1 : 0 };
    if (!found.length) $("picked").textContent = `There is no row “${text}”.`;
    else {
      const at = last.turn % found.length;
      reveal(found[at], found.length > 1 ? `Match ${at + 1} of ${found.length}; Go again for the next.` : "");
    }
  };
  document.querySelectorAll("[data-point]").forEach((tile) => {
    tile.onclick = () => { reveal(Number(tile.dataset.point)); $("map").scrollIntoView(); };
  });
  document.querySelectorAll("[data-show-cluster], [data-show-class]").forEach((part) => {
    part.addEventListener("click", (event) => {
      event.stopPropagation();
      const { showCluster, showClass } = part.dataset, groups = {};
      if (showCluster !== undefined) groups.cluster = Number(showCluster);
      if (showClass !== undefined) groups.class = Number(showClass);
      keepOnly(groups);
      map.reset();
      $("map").scrollIntoView();
    });
  });
  document.querySelectorAll("[data-row-cluster]").forEach((row) => {
    row.addEventListener("click", () => row.querySelector(".show").click());
  });
  $("show-all").onclick = () => keepOnly({});

  const root = document.documentElement, system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const setTheme = (theme) => {
    if (theme) root.dataset.theme = theme;
    else delete root.dataset.theme;
    $("theme").textContent = isDark() ? "Light" : "Dark";
    map.drawNow();
  };
  $("theme").onclick = () => setTheme(isDark() ? "light" : "dark");
  system.addEventListener("change", () => setTheme(root.dataset.theme));
  let before;
  const print = (printing, theme) => { map.printing = printing; setTheme(theme); };
  window.addEventListener("beforeprint", () => { before = root.dataset.theme; print(true, "light"); });
  window.addEventListener("afterprint", () => print(false, before));

  showLegend();
  paint();
  setTheme(root.dataset.theme);
})();
