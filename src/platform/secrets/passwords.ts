import { readFile } from "node:fs/promises";
import { LRUCache } from "lru-cache";
import { defineProblem, type FieldError } from "../../kernel/errors.ts";
import { programFile } from "../files.ts";

/** Thrown if too many logins wait for a password hash. */
export const PasswordsBusy = defineProblem({
  code: "busy",
  status: 503,
  title: "The server is busy",
  remedy:
    "Wait as long as `Retry-After` says and send the request again: too many passwords are being checked at the moment.",
});

/** The account and the addresses of a check, with whose other checks it takes turns, and makes room if too many wait. */
interface PasswordCaller {
  /** The e-mail address of the account, known or not; null for a new password. */
  readonly account: string | null;
  /** The ranges of addresses that the client belongs to, the smallest first; none for the operator. */
  readonly clients: readonly string[];
}

interface Passwords {
  /**
   * Hashes a password in which `passwordFault` finds nothing.
   * @param clients see `PasswordCaller`
   * @throws PasswordsBusy
   */
  hash(password: string, clients?: readonly string[]): Promise<string>;
  /**
   * Returns true if the password matches the hash. Pass null for an unknown user: the result is false after the same
   * time.
   * @throws PasswordsBusy
   */
  verify(password: string, hash: string | null, caller: PasswordCaller): Promise<boolean>;
}

interface PasswordLimits {
  /** The maximum number of concurrent hashes; each takes 19 MiB and a worker thread. */
  readonly activeMax: number;
  readonly waitingMax: number;
  /** The part of `waitingMax` that only accounts may take that logged in lately from the same range of addresses. */
  readonly waitingKept: number;
  /** The part of `waitingMax` that checks of one account may take, and that all new passwords may take together. */
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

/** The number of accounts whose last login is remembered, and for how long, in milliseconds. */
const recentMax = 10_000;
const recentMs = 24 * 3_600_000;

interface Waiter extends PasswordCaller {
  readonly isRecent: boolean;
  /** Its position in the order. */
  readonly turn: number;
  readonly go: () => void;
  readonly drop: (reason: Error) => void;
}

/**
 * Lets `activeMax` hashes run at once. The others wait, and accounts and the largest ranges of addresses take turns: a
 * flood of logins of one account, or from one range, delays others by no more than one of its checks. When too many
 * wait, the newest of the range with the most waiters is refused, which may be the newcomer.
 */
function makeTurns(limits: PasswordLimits) {
  const { activeMax, waitingMax, waitingKept, waitingMaxOfAccount } = limits;
  let active = 0;
  let turn = 0;
  let waiting: Waiter[] = [];

  /** Returns the next turn of a caller: behind those that wait for the same account, or from the same range. */
  function turnOf(caller: PasswordCaller, isRecent: boolean): number {
    const range = isRecent ? undefined : caller.clients.at(-1);
    const own = waiting.filter(
      ({ account, clients }) =>
        account === caller.account || (range !== undefined && clients.at(-1) === range),
    );
    return Math.max(turn, ...own.map((one) => one.turn)) + 1;
  }

  function wait(caller: PasswordCaller, isRecent: boolean): Promise<void> {
    return new Promise<void>((go, drop) => {
      waiting.push({ ...caller, isRecent, turn: turnOf(caller, isRecent), go, drop });
      const own = waiting.filter(({ account }) => account === caller.account);
      const others = waiting.filter((one) => !one.isRecent);
      if (own.length > waitingMaxOfAccount) refuse(newestOfFullest(own));
      else if (others.length > waitingMax - waitingKept) refuse(newestOfFullest(others));
      else if (waiting.length > waitingMax) refuse(newestOfFullest(waiting));
    });
  }

  function refuse(waiter: Waiter | undefined): void {
    waiting = waiting.filter((one) => one !== waiter);
    waiter?.drop(busy());
  }

  function takeNext(): Waiter | undefined {
    const next = waiting.reduce<Waiter | undefined>(
      (first, one) => (first === undefined || one.turn < first.turn ? one : first),
      undefined,
    );
    waiting = waiting.filter((one) => one !== next);
    turn = waiting.length === 0 ? 0 : (next?.turn ?? turn);
    return next;
  }

  return async function inTurn<T>(
    caller: PasswordCaller,
    isRecent: boolean,
    work: () => Promise<T>,
  ): Promise<T> {
    if (active < activeMax) active += 1;
    else await wait(caller, isRecent);
    try {
      return await work();
    } finally {
      // A finished hash passes its slot to the next waiter, so that a new caller cannot take it first.
      const next = takeNext();
      if (next === undefined) active -= 1;
      else next.go();
    }
  };
}

/** Returns the newest waiter of the largest range with the most of them, and there of the smaller range with the most. */
function newestOfFullest(waiters: readonly Waiter[]): Waiter | undefined {
  const levels = Math.max(...waiters.map(({ clients }) => clients.length));
  let left = waiters;
  for (let level = 1; level <= levels; level += 1) {
    const sizes = new Map<string | undefined, number>();
    for (const { clients } of left) {
      const range = clients.at(-level);
      sizes.set(range, (sizes.get(range) ?? 0) + 1);
    }
    const [fullest] = [...sizes].reduce((most, one) => (one[1] >= most[1] ? one : most));
    left = left.filter(({ clients }) => clients.at(-level) === fullest);
  }
  return left.at(-1);
}

function busy(): InstanceType<typeof PasswordsBusy> {
  return new PasswordsBusy("Too many users are logging in at once. Try again in a moment.", {
    retryAfterSeconds: busySeconds,
  });
}

/**
 * Creates the hashing of passwords. It is slow on purpose; limits on concurrent and waiting hashes keep a flood of
 * logins from starving other work.
 */
export function createPasswords(
  limits: PasswordLimits = {
    activeMax: 2,
    waitingMax: 96,
    waitingKept: 16,
    waitingMaxOfAccount: 64,
  },
  cost: PasswordCost = passwordCost,
): Passwords {
  const inTurn = makeTurns(limits);
  /** The accounts that logged in lately, each with the range of addresses. */
  const recent = new LRUCache<string, true>({ max: recentMax, ttl: recentMs });
  const recentKey = ({ account, clients }: PasswordCaller) =>
    `${account ?? ""} ${clients.at(-1) ?? ""}`;

  return {
    hash: (password, clients = []) =>
      inTurn({ account: null, clients }, false, async () =>
        (await argon2()).hash(normalize(password), cost),
      ),

    verify(password, hash, caller) {
      const key = recentKey(caller);
      return inTurn(caller, recent.has(key), async () => {
        const isSame = await (await argon2()).verify(hash ?? unknownUserHash, normalize(password));
        const isRight = isSame && hash !== null;
        if (isRight) recent.set(key, true);
        return isRight;
      });
    },
  };
}

/** Returns the problem with a new password for the account with this e-mail address; null if it is acceptable. */
export async function passwordFault(
  password: string,
  email?: string,
): Promise<Pick<FieldError, "code" | "message"> | null> {
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
}

/** Keyboards may produce é as one code point or as two; both are the same password. */
function normalize(password: string): string {
  return password.normalize("NFKC");
}

let commonPasswordsRead: Promise<ReadonlySet<string>> | undefined;

/** Loaded on first use: most processes never check a new password. */
function commonPasswords(): Promise<ReadonlySet<string>> {
  commonPasswordsRead ??= readFile(
    programFile("platform/secrets/common-passwords.txt"),
    "utf8",
  ).then((text) => new Set(text.split("\n").filter((line) => line !== "")));
  return commonPasswordsRead;
}
