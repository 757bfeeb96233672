"use strict";
(() => {
  const page = document.querySelector(".lca");
  const steps = [...page.querySelectorAll("details.step")];
  const all = [...page.querySelectorAll("details")];
  const field = page.querySelector("input[type=search]");
  const count = page.querySelector("output");
  const toggle = page.querySelector("button");
  let marks = [];
  let at = -1;

  const openAll = (open) => {
    steps.forEach((step) => { step.open = open; });
    if (!open) all.forEach((part) => { part.open = false; });
    label();
  };
  const allOpen = () => steps.every((step) => step.open);
  const label = () => { toggle.textContent = allOpen() ? toggle.dataset.close : toggle.dataset.open; };
  toggle.addEventListener("click", () => openAll(!allOpen()));
  steps.forEach((step) => step.addEventListener("toggle", label));

  const clear = () => {
    marks.forEach((mark) => {
      const parent = mark.parentNode;
      parent.replaceChild(document.createTextNode(mark.textContent), mark);
      parent.normalize();
    });
    marks = [];
    at = -1;
  };
  const wrap = (node, words) => {
    const lower = node.data.toLowerCase();
    let found = lower.indexOf(words);
    // Lower case may be longer than the text: then no place in it is certain.
    if (found < 0 || lower.length !== node.data.length) return;
    const parts = document.createDocumentFragment();
    let end = 0;
    for (; found >= 0; found = lower.indexOf(words, end)) {
      parts.append(node.data.slice(end, found));
      const mark = document.createElement("mark");
      end = found + words.length;
      mark.textContent = node.data.slice(found, end);
      parts.append(mark);
      marks.push(mark);
    }
    parts.append(node.data.slice(end));
    node.parentNode.replaceChild(parts, node);
  };
  const search = () => {
    clear();
    const words = field.value.trim().toLowerCase();
    if (words) {
      steps.forEach((step) => {
        const walker = document.createTreeWalker(step, NodeFilter.SHOW_TEXT);
        const nodes = [];
        while (walker.nextNode()) nodes.push(walker.currentNode);
        nodes.forEach((node) => wrap(node, words));
      });
    }
    count.textContent = words ? `${marks.length} ${count.dataset.found}` : "";
    if (marks.length) next(1);
  };
  const next = (by) => {
    if (!marks.length) return;
    if (at >= 0) marks[at].classList.remove("here");
    at = (at + by + marks.length) % marks.length;
    const mark = marks[at];
    mark.classList.add("here");
    for (let part = mark.closest("details"); part; part = part.parentElement.closest("details")) {
      if (!mark.closest("summary") || !part.contains(mark.closest("summary"))) part.open = true;
    }
    mark.scrollIntoView({ block: "center" });
  };
  let waiting = 0;
  field.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(search, 120);
  });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      event.preventDefault();
      next(event.shiftKey ? -1 : 1);
    } else if (event.key === "Escape") {
      field.value = "";
      search();
      field.blur();
    }
  });

  const go = (by) => {
    const here = steps.indexOf(document.activeElement.closest("details.step"));
    const step = steps[Math.min(Math.max(here + by, 0), steps.length - 1)];
    if (!step) return;
    step.querySelector("summary").focus();
    step.scrollIntoView({ block: "nearest" });
  };
  document.addEventListener("keydown", (event) => {
    if (event.target === field || event.ctrlKey || event.metaKey || event.altKey) return;
    const does = {
      j: () => go(1),
      k: () => go(-1),
      e: () => openAll(!allOpen()),
      "/": () => field.focus(),
    }[event.key];
    if (does) {
      event.preventDefault();
      does();
    }
  });
  page.querySelectorAll(".bars a").forEach((bar) => bar.addEventListener("click", () => {
    const step = document.querySelector(bar.getAttribute("href"));
    step.open = true;
    step.querySelector("summary").focus();
  }));
  page.querySelector(".tools").hidden = false;
  label();
})();
