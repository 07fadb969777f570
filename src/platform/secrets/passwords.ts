import { readFile } from "node:fs/promises";
import { defineProblem, type FieldError } from "../../kernel/errors.ts";

/** Thrown if too many logins wait for a password hash. */
export const PasswordsBusy = defineProblem({
  code: "busy",
  status: 503,
  title: "The server is busy",
  remedy:
    "Wait as long as `Retry-After` says and send the request again: too many passwords are being checked at the moment.",
});

export interface Passwords {
  /** Returns the problem with a new password for the account with this e-mail address; null if it is acceptable. */
  check(password: string, email?: string): Promise<Pick<FieldError, "code" | "message"> | null>;
  /**
   * Hashes a password that passed `check`.
   * @throws PasswordsBusy
   */
  hash(password: string): Promise<string>;
  /**
   * Returns true if the password matches the hash. Pass null for an unknown user: the result is false after the same
   * time.
   * @param account the e-mail address of the account, known or not, with which it takes turns
   * @throws PasswordsBusy
   */
  verify(password: string, hash: string | null, account: string): Promise<boolean>;
}

export interface PasswordLimits {
  /** The maximum number of concurrent hashes; each takes 19 MiB and a worker thread. */
  readonly activeMax: number;
  readonly waitingMax: number;
  /**
   * The part of `waitingMax` that checks of one account may take, and that all new passwords may take together, so that
   * others are checked during a flood of either.
   */
  readonly waitingMaxOfAccount: number;
}

/** Its library takes 4 MB, which a server without logins does not need. */
const argon2 = () => import("@node-rs/argon2");

/** The cost parameters of argon2id. */
export interface PasswordCost {
  /** Memory in KiB. */
  readonly memoryCost: number;
  /** The number of passes over the memory. */
  readonly timeCost: number;
  readonly parallelism: number;
}

const lengthMin = 8;
const lengthMax = 256;
/** The cost that OWASP's password storage guidance gives for argon2id, the library's default algorithm. */
export const passwordCost: PasswordCost = { memoryCost: 19 * 1_024, timeCost: 2, parallelism: 1 };
const busySeconds = 1;

/** The hash of discarded random bytes at the same cost, against which the password of an unknown user is compared. */
const unknownUserHash =
  "$argon2id$v=19$m=19456,t=2,p=1$hSsSYs8vJagS0o1fIxyjwg$6kmtIVrvzghC8ZjWMTfUpnhLKpymhLaXQ4msXbkfAkI";

/**
 * Lets `activeMax` hashes run at once. The others wait, and accounts take turns: a flood of logins of one account delays
 * another by no more than one of its checks.
 */
function makeTurns({ activeMax, waitingMax, waitingMaxOfAccount }: PasswordLimits) {
  let active = 0;
  let waitingCount = 0;
  /** The waiting hashes of each account, the next one first. New passwords wait under null, as if of one account. */
  const waiting = new Map<string | null, (() => void)[]>();

  async function wait(account: string | null): Promise<void> {
    const own = waiting.get(account) ?? [];
    if (waitingCount >= waitingMax || own.length >= waitingMaxOfAccount) {
      throw new PasswordsBusy("Too many users are logging in at once. Try again in a moment.", {
        retryAfterSeconds: busySeconds,
      });
    }
    waiting.set(account, own);
    waitingCount += 1;
    await new Promise<void>((go) => own.push(go));
  }

  function takeNext(): (() => void) | undefined {
    const [first] = waiting;
    if (first === undefined) return undefined;
    const [account, own] = first;
    const next = own.shift();
    waitingCount -= 1;
    waiting.delete(account);
    // Behind all others.
    if (own.length > 0) waiting.set(account, own);
    return next;
  }

  return async function inTurn<T>(account: string | null, work: () => Promise<T>): Promise<T> {
    if (active < activeMax) active += 1;
    else await wait(account);
    try {
      return await work();
    } finally {
      // A finished hash passes its slot to the next waiter, so that a new caller cannot take it first.
      const next = takeNext();
      if (next === undefined) active -= 1;
      else next();
    }
  };
}

/**
 * Creates the password service. Hashing is slow on purpose; limits on concurrent and waiting hashes keep a flood of
 * logins from starving other work.
 */
export function createPasswords(
  limits: PasswordLimits = { activeMax: 2, waitingMax: 96, waitingMaxOfAccount: 64 },
  cost: PasswordCost = passwordCost,
): Passwords {
  const inTurn = makeTurns(limits);

  return {
    async check(password, email) {
      // Counted in code points, so that an emoji or a rare letter counts once.
      const length = Array.from(password).length;
      if (length < lengthMin || length > lengthMax) {
        const range = `${String(lengthMin)} to ${String(lengthMax)}`;
        return { code: "invalid_length", message: `must have ${range} characters` };
      }
      const common = await commonPasswords();
      if (common.has(normalize(password).toLowerCase())) {
        return { code: "too_common", message: "is one of the most common passwords" };
      }
      if (email !== undefined && normalize(password).toLowerCase() === email.toLowerCase()) {
        return { code: "is_email", message: "must not be the e-mail address" };
      }
      return null;
    },

    hash: (password) => inTurn(null, async () => (await argon2()).hash(normalize(password), cost)),

    verify: (password, hash, account) =>
      inTurn(account, async () => {
        const isSame = await (await argon2()).verify(hash ?? unknownUserHash, normalize(password));
        return isSame && hash !== null;
      }),
  };
}

/** Keyboards may produce é as one code point or as two; both are the same password. */
function normalize(password: string): string {
  return password.normalize("NFKC");
}

let commonPasswordsRead: Promise<ReadonlySet<string>> | undefined;

/** Loaded on first use: most processes never check a new password. */
function commonPasswords(): Promise<ReadonlySet<string>> {
  commonPasswordsRead ??= readFile(new URL("common-passwords.txt", import.meta.url), "utf8").then(
    (text) => new Set(text.split("\n").filter((line) => line !== "")),
  );
  return commonPasswordsRead;
}
