// A steady load of invoices with keys and of payments, which records what the servers acknowledged.
import { setTimeout as delay } from "node:timers/promises";
import type { Ground } from "./ground.ts";

/** Callers that each wait for an answer before the next request. */
const callers = 8;
/** Every so many acknowledged invoices, one is paid. */
const paidEvery = 4;
/** The pause of a caller after a request that failed, in milliseconds. */
const pauseMs = 50;
/** The pause of a caller after each invoice, in milliseconds, so that a machine of two cores is not the limit. */
const breathMs = 40;
/** After this many milliseconds a caller gives up; the answer is unknown then. */
const patienceMs = 120_000;

/** An invoice that a caller asked for. */
export interface Order {
  /** The idempotency key, and the invoice's `externalId`. */
  readonly key: string;
  readonly amount: string;
  /** The first acknowledged answer; null before. */
  made: { readonly id: string; readonly checkoutId: string } | null;
}

/** An answer, or the lack of one, at a time of this process's clock in milliseconds. */
export interface Answer {
  readonly startedAt: number;
  readonly endedAt: number;
  /** 0 without an answer. */
  readonly status: number;
  /** Why there is no answer: `ECONNREFUSED` if no server has accepted the request. */
  readonly error?: string;
}

export interface Load {
  readonly orders: readonly Order[];
  /** The checkouts whose payment was acknowledged. */
  readonly paid: readonly string[];
  readonly answers: readonly Answer[];
  /** Answers that no server may give: other than 2xx, 3xx and 503. */
  readonly wrong: ReadonlyMap<string, number>;
  /** Sends no more requests, and waits for the open ones. */
  stop(): Promise<void>;
}

/** The part of a ground that a load uses. */
export interface LoadGround {
  readonly name: string;
  readonly shop: Pick<Ground["shop"], "path" | "key">;
  readonly servers: readonly { readonly url: string }[];
}

let runs = 0;

/**
 * Starts the callers. Each asks the next of the servers that run at the moment.
 * @param isPaying whether payers pay at the moment
 */
export function startLoad(ground: LoadGround, isPaying = () => true): Load {
  runs += 1;
  const run = `${ground.name}-${String(runs)}`;
  const orders: Order[] = [];
  const paid: string[] = [];
  const answers: Answer[] = [];
  const wrong = new Map<string, number>();
  const ending = new AbortController();

  async function call(path: string, init: RequestInit): Promise<Response | null> {
    const server = ground.servers[answers.length % Math.max(1, ground.servers.length)];
    if (server === undefined) return null;
    const startedAt = performance.now();
    const note = (status: number, error = "") => {
      answers.push({ startedAt, endedAt: performance.now(), status, error });
    };
    try {
      const signal = AbortSignal.timeout(patienceMs);
      const answer = await fetch(server.url + path, { ...init, signal, redirect: "manual" });
      const text = await answer.text();
      note(answer.status);
      if (answer.status >= 400 && answer.status !== 503) {
        const what = `${String(answer.status)} ${text.slice(0, 200)}`;
        wrong.set(what, (wrong.get(what) ?? 0) + 1);
      }
      return new Response(text, { status: answer.status });
    } catch (error) {
      const { cause } = error as { cause?: { code?: string } };
      note(0, cause?.code ?? String(error));
      return null;
    }
  }

  async function one(): Promise<void> {
    const place = orders.length;
    const order: Order = {
      key: `${run}-${String(place)}`,
      amount: `${String(10 + (place % 90))}.00`,
      made: null,
    };
    orders.push(order);
    const mayPay = isPaying();
    const answer = await call(`${ground.shop.path}/invoices`, creationOf(ground, order));
    if (answer?.status !== 201) return delay(pauseMs);
    order.made = (await answer.json()) as { id: string; checkoutId: string };
    const { id, checkoutId } = order.made;
    // A server that reads from another database than it writes to does not find it, which counts as wrong.
    await call(`${ground.shop.path}/invoices/${id}`, {
      headers: { "X-Service-Key": ground.shop.key },
    });
    if (place % paidEvery !== 0 || !mayPay || !isPaying()) return;
    const said = await call(`/pay/${checkoutId}/sandbox`, {
      method: "POST",
      body: new URLSearchParams({ action: "pay" }),
      // Each payer has an address of its own.
      headers: { "X-Forwarded-For": `10.${[16, 8, 0].map((n) => (place >> n) & 255).join(".")}` },
    });
    // An unanswered payment is not repeated: a payer who pays twice has paid twice.
    if (said?.status === 303) paid.push(checkoutId);
  }

  async function keepCalling(): Promise<void> {
    while (!ending.signal.aborted) {
      if (ground.servers.length > 0) await one();
      await delay(breathMs);
    }
  }
  const running = Array.from({ length: callers }, keepCalling);
  return {
    orders,
    paid,
    answers,
    wrong,
    async stop() {
      ending.abort();
      await Promise.all(running);
    },
  };
}

/** Returns the request that creates an order's invoice; the same one each time. */
export function creationOf({ shop }: LoadGround, { key, amount }: Order): RequestInit {
  const headers = {
    "X-Service-Key": shop.key,
    "Content-Type": "application/json",
    "Idempotency-Key": key,
  };
  const body = {
    externalId: key,
    amount,
    settlementCurrency: "USD",
    tokenSymbol: "USDT",
    network: "sandbox",
  };
  return { method: "POST", headers, body: JSON.stringify(body) };
}
