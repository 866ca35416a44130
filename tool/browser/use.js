// Makes an element ready to be used, and says where it is.
(n, use, value) => {
  const el = globalThis.rosterUsed?.[n - 1];
  if (!el || !el.isConnected) return { problem: "gone" };
  if (el.disabled) return { problem: "disabled" };
  el.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
  if (use === "select") {
    const options = Array.from(el.options), want = value.trim().toLowerCase();
    const to = options.find((o) => o.label.trim() === value.trim() || o.value === value) || options.find((o) => o.label.trim().toLowerCase() === want);
    if (!to) return { problem: "option", covered: options.slice(0, 40).map((o) => o.label.trim()).join(" | ") };
    to.selected = true;
    el.dispatchEvent(new Event("input", { bubbles: true }));
    el.dispatchEvent(new Event("change", { bubbles: true }));
    return { done: true };
  }
  if (use === "fill") {
    if (el.readOnly) return { problem: "readonly" };
    el.focus();
    if (["date", "time", "month", "week", "datetime-local", "color", "range", "number"].includes(el.type)) {
      el.value = value;
      if (el.value !== value && el.type !== "number") return { problem: "value" };
      el.dispatchEvent(new Event("input", { bubbles: true }));
      el.dispatchEvent(new Event("change", { bubbles: true }));
      return { done: true };
    }
    if (el.select) el.select();
    else getSelection().selectAllChildren(el);
    return { focused: document.activeElement === el || el.getRootNode().activeElement === el };
  }
  el.closest?.("a[target], area[target]")?.removeAttribute("target");
  el.form?.removeAttribute("target");
  const box = Array.from(el.getClientRects()).find((r) => r.width > 0 && r.height > 0) || el.getBoundingClientRect();
  const x = box.x + box.width / 2, y = box.y + box.height / 2;
  let hit = document.elementFromPoint(x, y);
  while (hit?.shadowRoot?.elementFromPoint(x, y) && hit.shadowRoot.elementFromPoint(x, y) !== hit) hit = hit.shadowRoot.elementFromPoint(x, y);
  if (!hit) return { problem: "outside" };
  const labelled = el.labels && Array.from(el.labels).some((l) => l.contains(hit));
  if (!el.contains(hit) && !hit.contains(el) && !labelled) {
    return { problem: "covered", covered: (hit.tagName.toLowerCase() + " " + (hit.innerText || "").replace(/\s+/g, " ").slice(0, 80)).trim() };
  }
  return { x, y };
}
