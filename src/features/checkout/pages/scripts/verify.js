// Verifies a pasted text in the browser, so that it stays there. A browser without Ed25519 sends the form to the server,
// as one without scripts does.
const form = document.getElementById("verify");
const outcomes = document.querySelectorAll("[data-outcome]");

const names = { "till-receipt+jwt": "receipt", "till-payment-request+jwt": "payment_request" };

class Refused extends Error {}

function bytesOf(part) {
  const base64 = part.replace(/-/g, "+").replace(/_/g, "/");
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
}

function read(part) {
  try {
    return { ...JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytesOf(part))) };
  } catch {
    throw new Refused("changed");
  }
}

async function fetchKeys() {
  try {
    const answer = await fetch(form.dataset.keys);
    return (await answer.json()).keys.slice();
  } catch {
    throw new Refused("unavailable");
  }
}

async function verify(text) {
  const parts = /^([\w-]+)\.([\w-]+)\.([\w-]+)$/.exec(text.trim());
  if (parts === null) throw new Refused("not_signed");
  const [, header, payload, signature] = parts;
  const { alg, kid, typ } = read(header);
  const keys = await fetchKeys();
  const jwk = keys.find((key) => key.kid === kid);
  if (jwk === undefined) throw new Refused("unknown_key");
  const { kty, crv, x } = jwk;
  const key = await crypto.subtle.importKey("jwk", { kty, crv, x }, "Ed25519", false, ["verify"]);
  const signed = new TextEncoder().encode(`${header}.${payload}`);
  // The one way to write 64 bytes: the last letter has four bits that are not part of them.
  const isCanonical = /^.{85}[AQgw]$/.test(signature);
  let isGenuine = alg === "EdDSA" && Object.hasOwn(names, typ) && isCanonical;
  try {
    isGenuine &&= await crypto.subtle.verify("Ed25519", key, bytesOf(signature), signed);
  } catch (error) {
    // Not base64.
    if (error.name !== "InvalidCharacterError") throw error;
    isGenuine = false;
  }
  if (!isGenuine) throw new Refused("changed");
  const claims = read(payload);
  const isOver = typ.includes("request") && Date.parse(claims.expiresAt) < Date.now();
  return { name: isOver ? "expired_request" : names[typ], claims };
}

function textOf(claims, name) {
  const value = claims[name];
  if (value == null) return "";
  if (name === "iat" || /At$/.test(name)) {
    const at = name === "iat" ? value * 1000 : Date.parse(value);
    const day = { day: "numeric", month: "short", year: "numeric" };
    const format = { ...day, hour: "2-digit", minute: "2-digit", timeZoneName: "short" };
    return new Intl.DateTimeFormat(`${document.documentElement.lang}-u-nu-latn`, format).format(at);
  }
  return Array.isArray(value) ? value.join(", ") : String(value);
}

function show(name, claims = {}) {
  for (const outcome of outcomes) {
    outcome.hidden = outcome.dataset.outcome !== name;
    if (outcome.hidden) continue;
    for (const link of outcome.querySelectorAll("[data-payment]")) {
      link.href = link.dataset.payment + encodeURIComponent(claims.checkoutId);
    }
    for (const ribbon of outcome.querySelectorAll("[data-test]")) ribbon.hidden = !claims.isTest;
    for (const cell of outcome.querySelectorAll("[data-claims]")) {
      const texts = cell.dataset.claims.split(" ").map((claim) => textOf(claims, claim));
      const isEmpty = texts.includes("");
      cell.firstElementChild.textContent = isEmpty ? "" : texts.join(" ");
      cell.hidden = isEmpty;
      cell.previousElementSibling.hidden = isEmpty;
    }
  }
}

// A result is that of the text beside it.
form.elements.text.addEventListener("input", () => show(null));

form.addEventListener("submit", async (event) => {
  // Only pages over https, or of this machine, may verify.
  if (!globalThis.crypto?.subtle) return;
  event.preventDefault();
  try {
    const { name, claims } = await verify(form.elements.text.value);
    show(name, claims);
  } catch (error) {
    if (error instanceof Refused) show(error.message);
    else form.submit();
  }
});
