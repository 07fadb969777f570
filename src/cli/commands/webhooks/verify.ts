import { readFile } from "node:fs/promises";
import type { Readable } from "node:stream";
import type { Column } from "../../../http/declare/command.ts";
import { systemClock, second } from "../../../kernel/clock.ts";
import { defineProblem } from "../../../kernel/errors.ts";
import {
  faultOf,
  isWebhookSecret,
  type Check,
  type SignatureFault,
} from "../../../platform/outbound/standard-webhooks.ts";
import { printRecord } from "../../terminal/output.ts";
import { UsageError } from "../../failures/refusals.ts";
import type { Terminal } from "../../terminal/terminal.ts";

const WebhookNotSigned = defineProblem({
  code: "webhook_not_signed",
  status: 422,
  title: "A receiver would reject this webhook",
});

/** Flags as commander stores them. */
type Flags = Readonly<Record<string, string | boolean | undefined>>;

interface Verification {
  readonly isValid: boolean;
  /** Reason for the rejection; null if valid. */
  readonly fault: SignatureFault | null;
  readonly message: string;
  readonly id: string;
  readonly timestamp: string;
}

/** Environment variable for the secret, which must not be an argument because other users can see arguments. */
const secretVariable = "WEBHOOK_SECRET";
/** Maximum size of the body; Till's webhooks are much smaller. */
const bytesMax = 1_048_576;

const messages: Readonly<Record<SignatureFault, string>> = {
  no_id: "The webhook-id header is missing. Pass it with --id.",
  no_timestamp:
    "The webhook-timestamp header is not a whole number of seconds. Pass it with --timestamp.",
  too_old:
    "It was signed more than five minutes ago, so a receiver treats it as a replay. Use --at to check it as of another time.",
  too_new:
    "It was signed more than five minutes in the future. Correct the clock of the sender or of this machine.",
  no_signature: "The webhook-signature header has no signature that starts with v1,",
  another_signature:
    "The signature does not match this body and secret: the secret belongs to another endpoint or is an old one, or the body was changed on its way. Use the raw body, before any parsing.",
};

/** `till webhook verify`: checks a webhook as its receiver would and explains a failure. */
export async function verifyWebhook(terminal: Terminal, flags: Flags): Promise<void> {
  const { stdin } = terminal.surroundings;
  const text = (name: string) => {
    const value = flags[name];
    return typeof value === "string" ? value : undefined;
  };
  const bodyFile = text("body") ?? "-";
  const isSecretOnStdin = flags["secretStdin"] === true || flags["secretFile"] === "-";
  if (isSecretOnStdin && bodyFile === "-") {
    throw new UsageError(
      "Pass the body with --body <file> if the secret comes from standard input.",
    );
  }
  const secret = await readSecret(terminal, flags);
  const body = bodyFile === "-" ? await readAll(stdin) : await readBytes("--body", bodyFile);
  const headers = {
    "webhook-id": text("id") ?? "",
    "webhook-timestamp": text("timestamp") ?? "",
    "webhook-signature": text("signature") ?? "",
  };
  const check = { body, secret, nowSeconds: timeOf(text("at")) };
  const fault = faultOf(headers, check);
  const shown: Verification = {
    isValid: fault === null,
    fault,
    message:
      fault === null
        ? "The signature is valid."
        : messages[fault] + (fault === "another_signature" ? hint(headers, check) : ""),
    id: headers["webhook-id"],
    timestamp: headers["webhook-timestamp"],
  };
  await printRecord(terminal, shown, {
    columns: ["isValid", "message"] satisfies readonly Column<Verification>[],
    sections: null,
    identify: () => shown.id,
  });
  if (fault !== null) throw new WebhookNotSigned(shown.message);
}

/** Detects the most common change: a line break that an editor or shell appended to the body. */
function hint(headers: Parameters<typeof faultOf>[0], check: Check): string {
  const trimmed = Buffer.from(check.body)
    .toString("latin1")
    .replace(/\r?\n$/, "");
  const body = Buffer.from(trimmed, "latin1");
  const isLineEnd =
    body.byteLength < check.body.byteLength && faultOf(headers, { ...check, body }) === null;
  return isLineEnd
    ? " Here the cause is a line break at the end of the body: without it, the signature is valid."
    : "";
}

function timeOf(text: string | undefined): number {
  const at = text === undefined ? systemClock.now() : Date.parse(text);
  if (Number.isNaN(at))
    throw new UsageError("--at must be a time such as 2031-01-31T00:00:00.000Z.");
  return Math.floor(at / second);
}

async function readSecret({ surroundings }: Terminal, flags: Flags): Promise<string> {
  const file = flags["secretFile"];
  const given =
    flags["secretStdin"] === true || file === "-"
      ? await readAll(surroundings.stdin)
      : typeof file === "string"
        ? await readBytes("--secret-file", file)
        : surroundings.env[secretVariable];
  if (given === undefined) {
    throw new UsageError(
      `Pass the endpoint's secret with --secret-file, --secret-stdin or the environment variable ${secretVariable}.`,
    );
  }
  const secret = given.toString().trim();
  if (isWebhookSecret(secret)) return secret;
  throw new UsageError("This is not a webhook secret. It starts with whsec_, followed by base64.");
}

async function readBytes(flag: string, path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    const reason = error instanceof Error && "code" in error ? String(error.code) : "unreadable";
    throw new UsageError(`${flag}: ${path} cannot be read (${reason}).`);
  }
}

async function readAll(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer | string>) {
    const buffer = Buffer.from(chunk);
    bytes += buffer.byteLength;
    if (bytes > bytesMax) throw new UsageError("The input is too long for a webhook.");
    chunks.push(buffer);
  }
  return Buffer.concat(chunks);
}
