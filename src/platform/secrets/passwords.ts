import { readFile } from "node:fs/promises";
import { hash as argon2Hash, verify as argon2Verify } from "@node-rs/argon2";
import { defineProblem, type FieldError } from "../../kernel/errors.ts";

/** More people sign in at once than this server hashes passwords for. */
export const PasswordsBusy = defineProblem({
  code: "busy",
  status: 503,
  title: "The server is busy",
});

export interface Passwords {
  /** What is wrong with a new password of the account of this e-mail address; null when it may be used. */
  check(password: string, email?: string): Promise<Pick<FieldError, "code" | "message"> | null>;
  /** Hashes a password that was checked. @throws PasswordsBusy */
  hash(password: string): Promise<string>;
  /**
   * Whether the password is the one that was hashed. Give null for an unknown user: it takes as long, and is never so.
   * @throws PasswordsBusy
   */
  verify(password: string, hash: string | null): Promise<boolean>;
}

export interface PasswordLimits {
  /** Each hash takes 19 MiB and a worker thread while it runs. */
  readonly activeMax: number;
  readonly waitingMax: number;
}

/** The cost parameters of argon2id. */
export interface PasswordCost {
  /** In KiB. */
  readonly memoryCost: number;
  /** Passes over the memory. */
  readonly timeCost: number;
  readonly parallelism: number;
}

const lengthMin = 8;
const lengthMax = 256;
/** The cost that OWASP's password storage page names for argon2id, the library's default algorithm. */
export const passwordCost: PasswordCost = { memoryCost: 19 * 1_024, timeCost: 2, parallelism: 1 };
const busySeconds = 1;

/** A hash of random bytes that nobody kept, at the same cost: what an unknown user's password is compared with. */
const unknownUserHash =
  "$argon2id$v=19$m=19456,t=2,p=1$hSsSYs8vJagS0o1fIxyjwg$6kmtIVrvzghC8ZjWMTfUpnhLKpymhLaXQ4msXbkfAkI";

/** Hashing is slow on purpose: a few at once, and a line that ends, keep a flood of sign-ins from everything else. */
export function createPasswords(
  { activeMax, waitingMax }: PasswordLimits = { activeMax: 2, waitingMax: 64 },
  cost: PasswordCost = passwordCost,
): Passwords {
  let active = 0;
  const waiting: (() => void)[] = [];

  async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (active < activeMax) {
      active += 1;
    } else {
      if (waiting.length >= waitingMax) {
        throw new PasswordsBusy("Too many people are signing in at once. Try again in a moment.", {
          retryAfterSeconds: busySeconds,
        });
      }
      // Whoever ends hands its place over, so that nobody new slips in between.
      await new Promise<void>((go) => waiting.push(go));
    }
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) active -= 1;
      else next();
    }
  }

  return {
    async check(password, email) {
      // Code points, so that an emoji or a rare letter counts once.
      const length = Array.from(password).length;
      if (length < lengthMin || length > lengthMax) {
        const range = `${String(lengthMin)} to ${String(lengthMax)}`;
        return { code: "invalid_length", message: `must have ${range} characters` };
      }
      const common = await commonPasswords();
      if (common.has(normalize(password).toLowerCase())) {
        return { code: "too_common", message: "is one of the first that anybody would try" };
      }
      if (email !== undefined && normalize(password).toLowerCase() === email.toLowerCase()) {
        return { code: "is_email", message: "must not be the e-mail address" };
      }
      return null;
    },

    hash: (password) => inTurn(() => argon2Hash(normalize(password), cost)),

    verify: (password, hash) =>
      inTurn(async () => {
        const isSame = await argon2Verify(hash ?? unknownUserHash, normalize(password));
        return isSame && hash !== null;
      }),
  };
}

/** One keyboard types é as one code point, another as two: both are the same password. */
function normalize(password: string): string {
  return password.normalize("NFKC");
}

let commonPasswordsRead: Promise<ReadonlySet<string>> | undefined;

/** Read on first use: most processes never check a new password. */
function commonPasswords(): Promise<ReadonlySet<string>> {
  commonPasswordsRead ??= readFile(new URL("common-passwords.txt", import.meta.url), "utf8").then(
    (text) => new Set(text.split("\n").filter((line) => line !== "")),
  );
  return commonPasswordsRead;
}
