// Searches the titles of the manual. Without this script the navigation is complete.
(() => {
  const box = document.getElementById("search");
  const query = document.getElementById("query");
  const found = document.getElementById("found");
  const shown = 12;
  let entries = null;
  const load = async () => {
    const response = await fetch(`${box.dataset.root}/search.json`);
    if (response.ok) entries = await response.json();
  };
  const show = () => {
    const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
    const matches = (entries ?? []).filter(([, text]) =>
      words.every((word) => text.toLowerCase().includes(word)),
    );
    found.replaceChildren(
      ...(words.length === 0 ? [] : matches.slice(0, shown)).map(([path, text]) => {
        const item = document.createElement("li");
        const link = document.createElement("a");
        link.href = box.dataset.root.replace(/docs$/, "") + path;
        link.textContent = text;
        item.append(link);
        return item;
      }),
    );
  };
  box.hidden = false;
  query.addEventListener("focus", () => void (entries ?? load()), { once: true });
  query.addEventListener("input", async () => {
    if (entries === null) await load();
    show();
  });
})();
