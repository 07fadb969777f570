// Chooses another token or network without loading the page again. The choice is remembered for other payments while
// the browser's tab lives, but applied only where nobody has chosen yet: an open page must not change under another payer.
"use strict";
(() => {
  const memory = "till:option";
  const page = document.getElementById("checkout");
  if (page === null) return;
  let isBusy = false;
  /** Whether the browser sends the form itself, so that the page says why the choice was refused. */
  let isPlain = false;

  async function choose(button) {
    const [network, tokenSymbol] = button.value.split("/");
    const answer = await fetch(`${page.dataset.session}/option`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ network, tokenSymbol }),
    });
    if (!answer.ok) throw new Error(String(answer.status));
    dispatchEvent(new Event("till:look"));
  }

  /** Storage may be switched off. */
  function remembered(value) {
    try {
      if (value !== undefined) sessionStorage.setItem(memory, value);
      return sessionStorage.getItem(memory);
    } catch {
      return null;
    }
  }

  document.addEventListener("submit", async (event) => {
    const { target: form, submitter } = event;
    const list = form.closest("#options");
    if (list === null || submitter === null || isPlain) return;
    event.preventDefault();
    if (isBusy) return;
    isBusy = true;
    try {
      await choose(submitter);
      remembered(submitter.value);
      list.open = false;
      list.querySelector("summary").focus();
      document.getElementById("announcement").textContent = page.dataset.optionChosen;
    } catch {
      isPlain = true;
      submitter.click();
    }
    isBusy = false;
  });

  const last = remembered();
  const fresh = [...document.querySelectorAll("#options form[data-fresh] button")];
  const again = fresh.find(({ value, ariaCurrent }) => value === last && ariaCurrent !== "true");
  if (again !== undefined) choose(again).catch(() => undefined);
})();
