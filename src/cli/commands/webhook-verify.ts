import { readFile } from "node:fs/promises";
import type { Readable } from "node:stream";
import { systemClock, second } from "../../kernel/clock.ts";
import { defineProblem } from "../../kernel/errors.ts";
import {
  faultOf,
  isWebhookSecret,
  type Check,
  type SignatureFault,
} from "../../platform/outbound/standard-webhooks.ts";
import { printRecord } from "../output.ts";
import { UsageError } from "../refusals.ts";
import type { Terminal } from "../terminal.ts";

const WebhookNotSigned = defineProblem({
  code: "webhook_not_signed",
  status: 422,
  title: "A receiver would refuse this webhook",
});

/** As commander keeps them. */
type Flags = Readonly<Record<string, string | boolean | undefined>>;

interface Verification {
  readonly isValid: boolean;
  /** Why not. */
  readonly fault: SignatureFault | null;
  readonly message: string;
  readonly id: string;
  readonly timestamp: string;
}

/** Where the secret may lie, so that it never stands among the arguments. */
const secretVariable = "WEBHOOK_SECRET";
/** What Till sends is far smaller. */
const bytesMax = 1_048_576;

const messages: Readonly<Record<SignatureFault, string>> = {
  no_id: "The header webhook-id is missing: give it with --id.",
  no_timestamp: "The header webhook-timestamp is not whole seconds: give it with --timestamp.",
  too_old:
    "It was signed more than five minutes ago: a receiver takes it for a repetition by somebody else. --at judges it as of another time.",
  too_new: "It was signed more than five minutes ahead of this clock: set one of the clocks right.",
  no_signature: "The header webhook-signature has no signature that begins with v1,.",
  another_signature:
    "The signature is not that of these bytes with this secret: it is another endpoint's secret or an old one, or the body was changed on its way here. Take the body as it came, before it is parsed.",
};

/** `till webhook verify`: what a receiver would make of a webhook, and why. */
export async function verifyWebhook(terminal: Terminal, flags: Flags): Promise<void> {
  const { stdin } = terminal.surroundings;
  const text = (name: string) => {
    const value = flags[name];
    return typeof value === "string" ? value : undefined;
  };
  const bodyFile = text("body") ?? "-";
  if (flags["secretStdin"] === true && bodyFile === "-") {
    throw new UsageError(
      "Give the body by --body <file> where the secret comes from standard input.",
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
        ? "The signature holds."
        : messages[fault] + (fault === "another_signature" ? hint(headers, check) : ""),
    id: headers["webhook-id"],
    timestamp: headers["webhook-timestamp"],
  };
  await printRecord(terminal, shown, {
    columns: [
      { title: "Valid", value: (one: Verification) => one.isValid },
      { title: "Why", value: (one: Verification) => one.message },
    ],
    sections: null,
    identify: () => shown.id,
  });
  if (fault !== null) throw new WebhookNotSigned(shown.message);
}

/** The commonest change: an editor or a shell puts a line end behind the body. */
function hint(headers: Parameters<typeof faultOf>[0], check: Check): string {
  const trimmed = Buffer.from(check.body)
    .toString("latin1")
    .replace(/\r?\n$/, "");
  const body = Buffer.from(trimmed, "latin1");
  const isLineEnd =
    body.byteLength < check.body.byteLength && faultOf(headers, { ...check, body }) === null;
  return isLineEnd
    ? " Here it is the line end behind the body: without it the signature holds."
    : "";
}

function timeOf(text: string | undefined): number {
  const at = text === undefined ? systemClock.now() : Date.parse(text);
  if (Number.isNaN(at)) throw new UsageError("--at: give a time such as 2031-01-31T00:00:00.000Z.");
  return Math.floor(at / second);
}

async function readSecret({ surroundings }: Terminal, flags: Flags): Promise<string> {
  const file = flags["secretFile"];
  const given =
    flags["secretStdin"] === true
      ? await readAll(surroundings.stdin)
      : typeof file === "string"
        ? await readBytes("--secret-file", file)
        : surroundings.env[secretVariable];
  if (given === undefined) {
    throw new UsageError(
      `Give the endpoint's secret by --secret-file, --secret-stdin or the variable ${secretVariable}.`,
    );
  }
  const secret = given.toString().trim();
  if (isWebhookSecret(secret)) return secret;
  throw new UsageError("The secret is not one: it begins with whsec_ and goes on in base64.");
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
    if (bytes > bytesMax) throw new UsageError("What came in is too long for a webhook.");
    chunks.push(buffer);
  }
  return Buffer.concat(chunks);
}
