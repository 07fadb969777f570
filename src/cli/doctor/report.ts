import { isIPv6 } from "node:net";
import { homedir, hostname, release, type, userInfo } from "node:os";
import { systemClock, toIso } from "../../kernel/clock.ts";
import type { ReportedSetting } from "../../platform/config/config.ts";
import { redactText } from "../../platform/logger/redact.ts";
import { programVersion } from "../../platform/files.ts";
import type { Finding } from "./finding.ts";
import type { StoreChecks } from "./store-checks.ts";

/**
 * Returns everything for a bug report as text, without secrets: the settings come with theirs masked. Names of merchants
 * and machines, mail addresses, hosts, wallets and transactions are replaced unless `isOpen`.
 */
export function makeReport(
  findings: readonly Finding[],
  settings: readonly ReportedSetting[],
  store: StoreChecks | null,
  isOpen: boolean,
): string {
  const { arch, version } = process;
  const { organizationNames = [], ...contents } = store?.contents ?? {};
  const report = {
    createdAt: toIso(systemClock.now()),
    versions: { till: programVersion(), node: version, system: `${type()} ${release()} ${arch}` },
    findings: findings.map((finding) => ({ ...finding, message: redactText(finding.message) })),
    store: store?.contents === null || store === null ? null : contents,
    servers: store?.servers ?? [],
    status: store?.status ?? null,
    settings,
  };
  const known = {
    merchant: organizationNames,
    machine: [hostname()],
    home: [homedir()].filter((path) => path !== "/root" && path !== "/"),
    user: [userInfo().username].filter((name) => name !== "root" && name !== "node"),
  };
  return `${JSON.stringify(isOpen ? report : conceal(report, known), null, 2)}\n`;
}

/** A form of text, with the name of its replacement; `isFound` decides where a regular expression cannot. */
type Form = readonly [name: string, form: RegExp, isFound?: (text: string) => boolean];

/** Forms of text that say who somebody is or where something is. */
const forms: readonly Form[] = [
  // The host of a URL, without a user and port. Loopback hosts stay.
  [
    "host",
    /(?<=\b[a-z][a-z0-9+.-]*:\/\/(?:[^\s/?#"'@]*@)?)(?![^\s/?#"']*@|localhost\b|127\.0\.0\.1\b|\[::1\])[^\s/?#:"'@,]+/gi,
  ],
  ["mail", /[\w.+-]+@(?:[\w-]+\.)+[a-z]{2,}\b/gi],
  ["ip", /(?<![\w.])(?!127\.0\.0\.1\b|0\.0\.0\.0\b)(?:\d{1,3}\.){3}\d{1,3}(?![\w.])/g],
  ["ip", /(?<![\w:])[0-9a-f:]*:[0-9a-f:.]*(?![\w:])/gi, isForeignIPv6],
  ["hash", /\b(?:0x)?[0-9a-f]{64}\b/gi],
  ["address", /\b0x[0-9a-f]{40}\b/gi],
  ["address", /\bT[1-9A-HJ-NP-Za-km-z]{33}\b/g],
  ["key", /\b[xyztuv]pub[1-9A-HJ-NP-Za-km-z]{20,}/g],
];
/** Shorter names occur as parts of words. */
const nameLengthMin = 3;

/**
 * Returns a copy of plain data in which names, hosts and addresses are replaced, equal ones by equal replacements such
 * as `host-2`, so that a reader still sees which belong together.
 * @param known names that have no form of their own, by the name of their replacement
 */
export function conceal<Data>(
  data: Data,
  known: Readonly<Record<string, readonly string[]>>,
): Data {
  const replacements = new Map<string, string>();
  const counts = new Map<string, number>();
  const replacementOf = (name: string, found: string) => {
    const old = replacements.get(found.toLowerCase());
    if (old !== undefined) return old;
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    const made = `${name}-${String(count)}`;
    replacements.set(found.toLowerCase(), made);
    return made;
  };
  const text = JSON.stringify(data);
  for (const [name, values] of Object.entries(known)) {
    for (const value of values) {
      if (value.length >= nameLengthMin) replacementOf(name, value);
    }
  }
  const formed = forms.reduce(
    (rest, [name, form, isFound = () => true]) =>
      rest.replace(form, (found) => (isFound(found) ? replacementOf(name, found) : found)),
    text,
  );
  // Hosts occur without the URL too, such as in the name of a provider. Longer ones may contain shorter ones.
  const bare = [...replacements].sort(([one], [other]) => other.length - one.length);
  const whole = bare.reduce(
    (rest, [found, made]) => rest.replace(occurrencesOf(found), made),
    formed,
  );
  return JSON.parse(whole) as Data;
}

/** Matches a value as it is written in JSON, but not within a longer word. */
function occurrencesOf(value: string): RegExp {
  const written = JSON.stringify(value).slice(1, -1);
  const literal = written.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  return new RegExp(`(?<![\\p{L}\\p{N}_])${literal}(?![\\p{L}\\p{N}_])`, "giu");
}

/** Times of day have colons too. */
function isForeignIPv6(text: string): boolean {
  return isIPv6(text) && text !== "::" && text !== "::1";
}
