// Writes a page down as Markdown, as it is seen, with a number for each thing that
// can be used. It runs in a world of its own, where it keeps those for use.js.
(maxText, maxNodes) => {
  const used = [], found = [], out = [];
  let size = 0, nodes = 0, more = false, pre = 0;
  globalThis.rosterUsed = used;
  const put = (s) => {
    if (more || !s) return;
    if (size + s.length > maxText) { s = s.slice(0, maxText - size); more = true; }
    size += s.length;
    out.push(s);
  };
  const line = (s, n) => (s || "").replace(/\s+/g, " ").trim().slice(0, n);
  const number = (el, kind, name, href, form) => {
    used.push(el);
    found.push({ kind, name, href: href || "", form: !!form });
    return used.length;
  };
  const nameOf = (el) => {
    const by = (el.getAttribute("aria-labelledby") || "").split(/\s+/).filter(Boolean).map((id) => el.ownerDocument.getElementById(id)?.textContent).join(" ");
    const labels = el.labels ? Array.from(el.labels).map((l) => l.textContent).join(" ") : "";
    return line(el.getAttribute("aria-label") || by || labels || el.placeholder || el.title || el.name || el.id, 100);
  };
  const shown = (el) => {
    const style = getComputedStyle(el);
    if (style.display === "contents") return true;
    return el.checkVisibility({ opacityProperty: true, contentVisibilityAuto: true });
  };
  const actionOf = (f) => {
    if (!f) return ["", false];
    try { const u = new URL(f.getAttribute("action") || document.URL, document.baseURI); u.hash = ""; if (f.method !== "post") u.search = ""; return [u.href, f.method !== "post"]; } catch { return ["", false]; }
  };
  const field = (el) => {
    const [action, form] = actionOf(el.form);
    if (el.tagName === "SELECT") {
      const all = Array.from(el.options), picked = Array.from(el.selectedOptions).map((o) => line(o.label, 60)).join(", ");
      const n = number(el, "select", nameOf(el), action, form);
      return `[select ${n} "${nameOf(el)}": ${picked}; one of ${all.slice(0, 40).map((o) => line(o.label, 60)).join(" | ")}${all.length > 40 ? " | …" : ""}]`;
    }
    const type = el.tagName === "TEXTAREA" ? "text" : el.isContentEditable && el.tagName !== "INPUT" ? "text" : (el.type || "text");
    switch (type) {
      case "hidden": return "";
      case "file": return `[file field "${nameOf(el)}": no files can be given]`;
      case "checkbox": case "radio": return `[${type} ${number(el, type, nameOf(el))} "${nameOf(el)}": ${el.checked ? "on" : "off"}]`;
      case "submit": case "button": case "reset": case "image": {
        const name = line(el.value || nameOf(el) || type, 100);
        return `[button ${number(el, "button", name, type === "submit" || type === "image" ? action : "", form)}: ${name}]`;
      }
    }
    const value = type === "password" ? (el.value ? "(filled)" : "") : line(el.isContentEditable ? el.textContent : el.value, 200);
    return `[${type} field ${number(el, "field", nameOf(el), action, form)} "${nameOf(el)}": ${value}]`;
  };
  const roles = ["button", "link", "checkbox", "radio", "tab", "menuitem", "option", "switch", "combobox", "treeitem"];
  const block = /^(ADDRESS|ARTICLE|ASIDE|BLOCKQUOTE|DD|DETAILS|DIALOG|DIV|DL|DT|FIELDSET|FIGCAPTION|FIGURE|FOOTER|FORM|HEADER|HGROUP|LEGEND|MAIN|NAV|OL|P|SECTION|SUMMARY|TABLE|UL|BODY)$/;
  const kids = (el, depth) => {
    const from = el.shadowRoot ? el.shadowRoot.childNodes : el.tagName === "SLOT" && el.assignedNodes().length ? el.assignedNodes({ flatten: true }) : el.childNodes;
    for (const c of from) { if (more) return; walk(c, depth + 1); }
  };
  const walk = (node, depth) => {
    if (++nodes > maxNodes || depth > 300) { more = more || nodes > maxNodes; return; }
    if (node.nodeType === 3) {
      if (node.parentElement && getComputedStyle(node.parentElement).visibility !== "visible") return;
      put(pre ? node.data : node.data.replace(/\s+/g, " "));
      return;
    }
    if (node.nodeType !== 1) return;
    const tag = node.tagName.toUpperCase();
    if (/^(SCRIPT|STYLE|NOSCRIPT|TEMPLATE|SVG|CANVAS|OBJECT|EMBED|AUDIO|HEAD|OPTION|DATALIST)$/.test(tag) || !shown(node)) return;
    switch (tag) {
      case "BR": put("\n"); return;
      case "HR": put("\n\n---\n\n"); return;
      case "IMG": if (node.alt) put(`![${line(node.alt, 200)}]`); return;
      case "VIDEO": put("[video]"); return;
      case "IFRAME": case "FRAME": put(`\n[frame: ${line(node.src, 300)}]\n`); return;
      case "INPUT": case "SELECT": case "TEXTAREA": put(field(node) + " "); return;
      case "BUTTON": {
        const [action, form] = node.type === "submit" ? actionOf(node.form) : ["", false];
        const name = line(node.innerText || nameOf(node), 100);
        put(`[button ${number(node, "button", name, action, form)}: ${name}] `);
        return;
      }
      case "A": {
        const href = node.href && typeof node.href === "string" ? node.href : "";
        const name = line(node.innerText || nameOf(node) || node.querySelector("img")?.alt, 200);
        if (href || node.onclick || node.hasAttribute("role")) {
          const to = /^https?:/.test(href) ? href : "";
          put(`[${name}](${number(node, "link", name, to)}${to ? ": " + to.slice(0, 300) : ""})`);
          return;
        }
        break;
      }
      case "PRE": put("\n\n```\n"); pre++; kids(node, depth); pre--; put("\n```\n\n"); return;
      case "LI": put("\n- "); kids(node, depth); return;
      case "TR": put("\n| "); kids(node, depth); return;
      case "TD": case "TH": kids(node, depth); put(" | "); return;
    }
    const heading = /^H([1-6])$/.exec(tag);
    if (heading) { put("\n\n" + "#".repeat(+heading[1]) + " "); kids(node, depth); put("\n\n"); return; }
    const role = node.getAttribute("role");
    if (tag === "SUMMARY" || roles.includes(role) || node.hasAttribute("onclick")) {
      const name = line(node.innerText || nameOf(node), 100);
      put(`[${role || "button"} ${number(node, "button", name)}: ${name}] `);
      if (name || role !== null) return;
    }
    if (node.isContentEditable && !node.parentElement?.isContentEditable || role === "textbox" || role === "searchbox") { put(field(node) + " "); return; }
    const apart = block.test(tag);
    if (apart) put("\n");
    kids(node, depth);
    if (apart) put("\n");
  };
  if (document.body) walk(document.body, 0);
  const text = out.join("").split("\n").map((s) => s.replace(/[ \t]+$/, "").replace(/^ (?! )/, "")).join("\n").replace(/\n{3,}/g, "\n\n").trim();
  const nav = performance.getEntriesByType("navigation")[0];
  return { title: line(document.title, 300), url: document.URL, status: nav ? nav.responseStatus : 0, type: document.contentType, text, more, elements: found };
}
