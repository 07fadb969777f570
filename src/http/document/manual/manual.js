// Searches the titles and the text of the manual, and opens examples in the language that the reader chose last. Without this script
// the navigation and the examples are complete.
(() => {
  const box = document.getElementById("search");
  const query = document.getElementById("query");
  const found = document.getElementById("found");
  const shown = 12;
  let entries = null;
  let loading = null;
  // Loads the index once, and again after a failure.
  const load = () => {
    loading ??= fetch(`${box.dataset.root}/search.json`)
      .then((response) => (response.ok ? response.json() : null))
      .catch(() => null)
      .then((loaded) => {
        entries = loaded;
        if (loaded === null) loading = null;
      });
    return loading;
  };
  const show = () => {
    const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
    const has = (text) => words.every((word) => text.includes(word));
    // Sections with the words in their titles come first.
    const ranks = [[], []];
    for (const [path, title, text] of words.length === 0 ? [] : (entries ?? [])) {
      const lower = title.toLowerCase();
      if (has(lower)) ranks[0].push([path, title]);
      else if (has(`${lower} ${text}`)) ranks[1].push([path, title]);
    }
    const matches = ranks.flat().slice(0, shown);
    found.replaceChildren(
      ...matches.map(([path, title]) => {
        const item = document.createElement("li");
        const link = document.createElement("a");
        link.href = box.dataset.root.replace(/docs$/, "") + path;
        link.textContent = title;
        const page = path.replace(/^docs\/?/, "").replace(/#.*$/, "");
        item.append(link, page === "" ? "" : ` in ${page}`);
        return item;
      }),
    );
    if (words.length > 0 && entries !== null && matches.length === 0) {
      const nothing = document.createElement("li");
      nothing.textContent = "Nothing found.";
      found.append(nothing);
    }
  };
  box.hidden = false;
  query.addEventListener("focus", load, { once: true });
  query.addEventListener("input", async () => {
    if (entries === null) await load();
    show();
  });
})();

(() => {
  const key = "till-manual-language";
  const examples = [...document.querySelectorAll("details[name]")];
  const languageOf = (example) => example.querySelector("summary").textContent;
  const opened = (language) => {
    for (const example of examples) {
      if (languageOf(example) === language) example.open = true;
    }
  };
  const stored = (() => {
    try {
      return localStorage.getItem(key);
    } catch {
      return null; // The browser refuses storage to the page.
    }
  })();
  if (stored !== null) opened(stored);
  for (const example of examples) {
    example.querySelector("summary").addEventListener("click", () => {
      if (example.open) return;
      const language = languageOf(example);
      try {
        localStorage.setItem(key, language);
      } catch {
        // The choice holds for this page.
      }
      // The browser opens the chosen one; the reader's place stays that of the chosen one.
      const top = example.getBoundingClientRect().top;
      setTimeout(() => {
        opened(language);
        scrollBy(0, example.getBoundingClientRect().top - top);
      });
    });
  }
})();
