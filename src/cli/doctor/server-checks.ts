import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { TLSSocket } from "node:tls";
import { day, second, systemClock, type Instant } from "../../kernel/clock.ts";
import { ok, problem, reasonOf, skipped, warning, type Finding } from "./finding.ts";

/** How long to wait for the server's answer, in milliseconds. */
const answerMs = 5 * second;
/** The maximum length of an answer, in characters. */
const answerMax = 1_000_000;
/** Days before the end of the certificate from which on it is a warning. */
const certificateDays = 14;
/** Difference of clocks, in milliseconds, from which on it is a warning or a problem. A Date header has whole seconds. */
const clockOff = { warning: 5 * second, problem: 60 * second };

interface Answer {
  readonly status: number;
  readonly type: unknown;
  /** The server's time, and the time in the middle of the request. */
  readonly clock: { readonly server: Instant; readonly own: Instant } | null;
  readonly certificateEnd: Instant | null;
}

/** Checks of the server through its base URL. */
export interface ServerChecks {
  readonly findings: readonly Finding[];
  /** Whether the clock could be compared. */
  readonly isClockChecked: boolean;
}

/**
 * Requests a page that does not exist through the base URL. The problem in the answer shows that Till answers, and with
 * which path its links begin.
 */
export async function checkServer(baseUrl: string, now: Instant): Promise<ServerChecks> {
  let answer: Answer;
  try {
    answer = await askServer(`${baseUrl}/v1/doctor`);
  } catch (error) {
    const message = `${baseUrl} does not answer: ${reasonOf(error)}.`;
    const remedy =
      "Start the server, or check the name, the proxy and its certificate; payers use this address";
    return { findings: [problem("base URL", message, remedy)], isClockChecked: false };
  }
  const findings = [comparePrefix(baseUrl, answer)];
  if (answer.certificateEnd !== null) findings.push(judgeCertificate(answer.certificateEnd, now));
  if (answer.clock !== null) {
    const off = Math.abs(answer.clock.server - answer.clock.own);
    findings.push(judgeClock(off, `${String(Math.round(off / second))} s from that of ${baseUrl}`));
  }
  return { findings, isClockChecked: answer.clock !== null };
}

/** Judges the difference of this machine's clock to another one, in milliseconds. */
export function judgeClock(off: number, words: string): Finding {
  const message = `The clock of this machine is ${words}.`;
  const remedy = "Set the clock by NTP: rates, deadlines and signatures depend on it";
  if (off > clockOff.problem) return problem("clock", message, remedy);
  return off > clockOff.warning ? warning("clock", message, remedy) : ok("clock", message);
}

function comparePrefix(baseUrl: string, { status, type }: Answer): Finding {
  const check = "base URL";
  const found = /^(\/\S*)?\/docs\/problems#/.exec(typeof type === "string" ? type : "");
  if (found === null) {
    return problem(
      check,
      `${baseUrl} answers with status ${String(status)}, but not as Till does.`,
      "Check that the proxy passes every path on to the server, without changing it",
    );
  }
  const [, prefix = ""] = found;
  const expected = new URL(baseUrl).pathname.replace(/\/+$/, "");
  if (prefix === expected) return ok(check, `The server answers at ${baseUrl}.`);
  return problem(
    check,
    `The server at ${baseUrl} begins its paths with "${prefix}" instead of "${expected}".`,
    "Another server answers there: check to which one the proxy passes requests",
  );
}

function judgeCertificate(end: Instant, now: Instant): Finding {
  const days = Math.floor((end - now) / day);
  const message = `The TLS certificate ends in ${String(days)} days.`;
  return days < certificateDays
    ? warning("certificate", message, "Renew it: payers' browsers refuse one that has ended")
    : ok("certificate", message);
}

function askServer(url: string): Promise<Answer> {
  const began = systemClock.now();
  const isSecure = url.startsWith("https:");
  const options = {
    headers: { Accept: "application/json" },
    agent: false,
    signal: AbortSignal.timeout(answerMs),
  } as const;
  return new Promise((resolve, reject) => {
    const asked = (isSecure ? requestHttps : requestHttp)(url, options, (response) => {
      const own = (began + systemClock.now()) / 2;
      const { socket } = response;
      const end = socket instanceof TLSSocket ? socket.getPeerCertificate().valid_to : "";
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => {
        text += part;
        // A foreign page may be large.
        if (text.length > answerMax) response.destroy(new Error("the answer is too long"));
      });
      response.once("error", reject).once("end", () => {
        const date = Date.parse(response.headers.date ?? "");
        resolve({
          status: response.statusCode ?? 0,
          type: typeOf(text),
          // The header names the second that has begun.
          clock: Number.isNaN(date) ? null : { server: date + second / 2, own },
          certificateEnd: end === "" ? null : Date.parse(end),
        });
      });
    });
    asked.once("error", reject).end();
  });
}

function typeOf(text: string): unknown {
  try {
    return (JSON.parse(text) as { readonly type?: unknown } | null)?.type;
  } catch {
    return undefined;
  }
}

/** The finding while no server runs. */
export function noServer(): Finding {
  return skipped("base URL", "No server is running on this store.", "Start it: till serve");
}
