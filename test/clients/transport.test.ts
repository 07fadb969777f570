// The client's requests against a `fetch` of the test: what is sent, what is retried, and what is thrown.
import { expect } from "chai";
import { openTill, TillConnectionError, TillProblem } from "../../src/client/index.ts";
import {
  firstWaitMs,
  makeTransport,
  retriesByDefault,
  waitBefore,
  waitMaxMs,
  type OperationCall,
  type TillOptions,
  type WriteOptions,
} from "../../src/client/transport.ts";

interface Sent {
  readonly url: string;
  readonly headers: Headers;
  readonly body: string | null;
}
type Script = (() => Response | Promise<Response>)[];

const get: OperationCall = { id: "getInvoice", method: "GET", path: "/invoices/{invoiceId}" };
const create: OperationCall = {
  id: "createInvoice",
  method: "POST",
  path: "/invoices",
  hasBody: true,
  isIdempotent: true,
};
const login: OperationCall = { id: "login", method: "POST", path: "/auth/login", hasBody: true };
const change: OperationCall = { id: "updateInvoice", method: "PATCH", path: "/i", hasBody: true };

const answer = (
  status: number,
  body: unknown = { id: "inv_1" },
  headers: Readonly<Record<string, string>> = {},
) => {
  const type = status < 400 ? "application/json" : "application/problem+json";
  return () =>
    new Response(JSON.stringify(body), { status, headers: { "Content-Type": type, ...headers } });
};
const problem = (status: number, code: string, headers: Readonly<Record<string, string>> = {}) =>
  answer(status, { code, status, title: "T", detail: "D.", requestId: "r", errors: [] }, headers);
const lost = () => Promise.reject(new TypeError("fetch failed"));

/** A transport that is answered by a script, and does not wait. */
function scripted(script: Script, options: Partial<TillOptions> = {}) {
  const sent: Sent[] = [];
  const waits: number[] = [];
  const fake = async (url: unknown, init: RequestInit = {}) => {
    const { body } = init;
    const text = typeof body === "string" ? body : null;
    sent.push({ url: String(url), headers: new Headers(init.headers), body: text });
    const next = script[sent.length - 1];
    if (next === undefined) throw new Error("the script has no further answer");
    return next();
  };
  const send = makeTransport(
    { url: "https://till.example/prefix/", fetch: fake, ...options },
    {
      wait: (milliseconds) => {
        waits.push(milliseconds);
        return Promise.resolve();
      },
      random: () => 0.5,
    },
  );
  const call = (
    operation: OperationCall,
    more: WriteOptions & { readonly ifMatch?: string } = {},
    path: readonly string[] = operation === get ? ["inv_1"] : [],
  ) => {
    const body = operation.hasBody === true ? { amount: "1" } : undefined;
    return send(operation, { path, body, options: more });
  };
  return { sent, waits, call };
}

async function thrownBy(calling: Promise<unknown>): Promise<unknown> {
  try {
    await calling;
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}

describe("the client's requests", () => {
  it("carry the credential and JSON, below the path prefix of the instance", async () => {
    const { sent, call } = scripted([answer(201), answer(200)], { apiKey: "till_live_1" });
    expect(await call(create)).to.deep.equal({ id: "inv_1" });
    await call(get);
    expect(sent[0]?.url).to.equal("https://till.example/prefix/v1/invoices");
    expect(sent[0]?.body).to.equal('{"amount":"1"}');
    expect(sent[0]?.headers.get("X-Service-Key")).to.equal("till_live_1");
    expect(sent[1]?.url).to.equal("https://till.example/prefix/v1/invoices/inv_1");
    expect(sent[1]?.headers.has("Idempotency-Key")).to.equal(false);
  });

  it("take the address of the API for that of its instance", async () => {
    for (const url of ["https://till.example/prefix/v1", "https://till.example/prefix/v1/"]) {
      const { sent, call } = scripted([answer(200)], { url });
      await call(get);
      expect(sent[0]?.url).to.equal("https://till.example/prefix/v1/invoices/inv_1");
    }
  });

  it("ask for the current access token before each attempt", async () => {
    let drawn = 0;
    const { sent, call } = scripted([lost, answer(200)], {
      accessToken: () => `token ${String((drawn += 1))}`,
    });
    await call(get);
    const tokens = sent.map(({ headers }) => headers.get("Authorization"));
    expect(tokens).to.deep.equal(["Bearer token 1", "Bearer token 2"]);
  });

  it("keep their idempotency key over retries, and each call has another", async () => {
    const { sent, call } = scripted([
      lost,
      problem(503, "store_unavailable"),
      answer(201),
      answer(201),
    ]);
    await call(create);
    await call(create);
    const keys = sent.map(({ headers }) => headers.get("Idempotency-Key"));
    expect(keys[0]).to.match(/^[0-9a-f]{32}$/);
    expect(keys.slice(0, 3)).to.deep.equal([keys[0], keys[0], keys[0]]);
    expect(keys[3]).not.to.equal(keys[0]);
    const own = scripted([answer(201)]);
    await own.call(create, { idempotencyKey: "order-7" });
    expect(own.sent[0]?.headers.get("Idempotency-Key")).to.equal("order-7");
  });

  it("wait at least as long as Till asks, and a random time more", async () => {
    const limited = problem(429, "rate_limited", { "Retry-After": "7" });
    const { waits, call } = scripted([limited, lost, answer(200)]);
    await call(get);
    expect(waits).to.deep.equal([7_000 + firstWaitMs / 2, firstWaitMs]);
    expect(waitBefore(30, null, 0.999)).to.be.at.most(waitMaxMs);
    expect(waitBefore(0, null, 0)).to.equal(0);
  });

  it("end at once if Till asks for a wait beyond the limit, and say for how long", async () => {
    const { sent, call } = scripted([problem(429, "rate_limited", { "Retry-After": "3600" })]);
    const error = await thrownBy(call(get));
    expect(error).to.be.instanceOf(TillProblem).and.to.include({ retryAfterSeconds: 3_600 });
    expect(sent).to.have.length(1);
  });

  it("end after the last retry with the last failure", async () => {
    const { sent, call } = scripted(Array.from({ length: 9 }, () => lost));
    expect(await thrownBy(call(get))).to.be.instanceOf(TillConnectionError);
    expect(sent).to.have.length(1 + retriesByDefault);
    const never = scripted([lost], { retries: 0 });
    expect(await thrownBy(never.call(get))).to.be.instanceOf(TillConnectionError);
  });

  it("are not repeated if a second execution would have another effect", async () => {
    for (const [operation, options] of [
      [login, {}],
      [change, { ifMatch: '"1"' }],
    ] as const) {
      const { sent, call } = scripted([lost]);
      expect(await thrownBy(call(operation, options))).to.be.instanceOf(TillConnectionError);
      expect(sent, operation.id).to.have.length(1);
    }
    const limited = scripted([problem(429, "rate_limited"), answer(200)]);
    await limited.call(login);
    const changed = scripted([lost, answer(200)]);
    await changed.call(change);
    const running = scripted([problem(409, "idempotency_key_in_flight"), answer(201)]);
    await running.call(create);
  });

  it("throw a refusal as a problem with its code and fields, without a retry", async () => {
    const errors = [{ pointer: "/amount", code: "required", message: "is required" }];
    const refusal = { code: "invalid_request", status: 400, title: "T", detail: "D." };
    const { sent, call } = scripted([answer(400, { ...refusal, requestId: "req_1", errors })]);
    const error = await thrownBy(call(create));
    expect(error).to.be.instanceOf(TillProblem);
    expect(error).to.deep.include({
      status: 400,
      code: "invalid_request",
      requestId: "req_1",
      errors,
    });
    expect(sent).to.have.length(1);
  });

  it("name an answer that is not Till's, and follow no redirect with the credential", async () => {
    const html = () => new Response("<html>", { status: 200 });
    const elsewhere = () =>
      new Response(null, { status: 307, headers: { Location: "https://a.b" } });
    for (const [answered, status] of [
      [html, 200],
      [elsewhere, 307],
      [() => new Response("Not found", { status: 404 }), 404],
    ] as const) {
      const { sent, call } = scripted([answered]);
      const error = await thrownBy(call(get));
      expect(error).to.be.instanceOf(TillConnectionError).and.to.include({ status });
      expect(sent).to.have.length(1);
    }
    const proxy = scripted([() => new Response("Bad gateway", { status: 502 }), answer(200)]);
    await proxy.call(get);
  });

  it("end with the reason of an aborted signal, even while they wait", async () => {
    const stop = new AbortController();
    const reason = new Error("the page was left");
    const fake = () => {
      setImmediate(() => {
        stop.abort(reason);
      });
      return Promise.resolve(problem(503, "store_unavailable", { "Retry-After": "30" })());
    };
    const send = makeTransport({ url: "https://till.example", fetch: fake });
    const parts = { path: ["inv_1"], options: { signal: stop.signal } };
    expect(await thrownBy(send(get, parts))).to.equal(reason);
    expect(await thrownBy(send(get, parts))).to.equal(reason);
  });

  it("end an attempt when its time is up", async () => {
    const fake = (_url: unknown, init: RequestInit = {}) =>
      new Promise<Response>((_resolve, reject) => {
        init.signal?.addEventListener("abort", () => {
          reject(init.signal?.reason as Error);
        });
      });
    const send = makeTransport({ url: "https://till.example", fetch: fake, retries: 0 });
    const error = await thrownBy(send(get, { path: ["inv_1"], options: { timeoutMs: 5 } }));
    expect(error).to.be.instanceOf(TillConnectionError);
    expect((error as Error).message).to.contain("5 ms");
  });

  it("refuse an id that would address another operation, and an address that is none", async () => {
    const { sent, call } = scripted([answer(200)]);
    for (const id of ["", ".", "..", undefined as unknown as string]) {
      expect(await thrownBy(call(get, {}, [id])), id).to.be.instanceOf(TypeError);
    }
    expect(sent).to.have.length(0);
    await call(get, {}, ["a/../b?c#d"]);
    expect(sent[0]?.url).to.equal("https://till.example/prefix/v1/invoices/a%2F..%2Fb%3Fc%23d");
    const without = undefined as unknown as string;
    for (const url of ["ftp://till.example", "till", "127.0.0.1:4841", "http://", "", without]) {
      expect(() => openTill({ url }), url).to.throw(
        TypeError,
        /^url must .*"https:\/\/till.example"/,
      );
    }
  });

  it("are not made with an empty API key, such as that of a variable that is not set", () => {
    for (const apiKey of ["", " "]) {
      const open = () => openTill({ url: "https://till.example", apiKey });
      expect(open).to.throw(TypeError, "apiKey is empty");
    }
  });
});

describe("the client's lists", () => {
  const page = (ids: readonly string[], nextCursor: string | null, more: object = {}) =>
    answer(200, { data: ids.map((id) => ({ id })), nextCursor, ...more });

  function listed(script: Script) {
    const urls: string[] = [];
    const fake = (url: unknown) => {
      urls.push(String(url));
      const next = script[urls.length - 1];
      if (next === undefined) throw new Error("the script has no further page");
      return Promise.resolve(next());
    };
    return { urls, till: openTill({ url: "https://till.example", fetch: fake, retries: 0 }) };
  }

  it("give all items, page by page, and keep their filters", async () => {
    const { urls, till } = listed([page(["a", "b"], "next"), page(["c"], null)]);
    const ids: string[] = [];
    for await (const { id } of till.invoices.list("org_1", {
      status: ["open", "paid"],
      limit: 2,
    })) {
      ids.push(id);
    }
    expect(ids).to.deep.equal(["a", "b", "c"]);
    const path = "https://till.example/v1/organizations/org_1/invoices?status=open%2Cpaid&limit=2";
    expect(urls).to.deep.equal([path, `${path}&cursor=next`]);
  });

  it("give one page to `await`, and request nothing before", async () => {
    const { urls, till } = listed([page(["a"], "next")]);
    const list = till.invoices.list("org_1");
    expect(urls).to.have.length(0);
    expect((await list).nextCursor).to.equal("next");
    expect((await list).data).to.have.length(1);
    expect(urls).to.have.length(1);
  });

  it("have `catch` and `finally` of their first page", async () => {
    const { urls, till } = listed([answer(503, { code: "unavailable" })]);
    const list = till.invoices.list("org_1");
    let ended = 0;
    const refusal = await list.catch((error: unknown) => error);
    await list.finally(() => (ended += 1)).catch(() => undefined);
    expect(refusal).to.be.instanceOf(TillProblem).and.to.include({ code: "unavailable" });
    expect(ended).to.equal(1);
    expect(urls).to.have.length(1);
  });

  it("end at the newest event, over empty pages, with the cursor from which to go on", async () => {
    const { urls, till } = listed([
      page([], "1", { hasMore: true }),
      page(["e"], "2", { hasMore: false }),
    ]);
    const cursors: string[] = [];
    for await (const each of till.webhooks.listEvents("org_1", { after: "0" }).pages()) {
      cursors.push(each.nextCursor);
    }
    expect(cursors).to.deep.equal(["1", "2"]);
    expect(urls[1]).to.contain("after=1");
  });
});
