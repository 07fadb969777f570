import { expect } from "chai";
import { spawnSync } from "node:child_process";
import { createLogger, lineBytesMax, silentLogger } from "../../../src/platform/logger/index.ts";
import type { LogLevel } from "../../../src/platform/logger/levels.ts";
import { compiledProgram } from "../../support/programs/built.ts";

/** Returns a logger with a fixed time, and the lines that it writes. */
function recording(level: LogLevel = "info") {
  const written: string[] = [];
  const logger = createLogger({
    level,
    clock: { now: () => 1_700_000_000_000 },
    destination: { write: (line) => written.push(line) },
  });
  const lines = () => written.map((line) => JSON.parse(line) as Record<string, unknown>);
  return { logger, written, lines };
}

/** Returns the fields of the single line that was logged. */
function logged(fields: object, message = "message"): Record<string, unknown> {
  const { logger, lines } = recording();
  logger.info(fields, message);
  return lines()[0] ?? {};
}

const secrets = {
  jwt: "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJ1c3JfMSJ9.c2lnbmF0dXJl",
  serviceKey: "till_live_9f8e7d6c5b4a39281706f5e4d3c2b1a0",
  webhook: "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD",
  xprv: "xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi",
  databasePassword: "correct-horse-battery",
};

describe("the logger", () => {
  it("writes one JSON line with level, time, process and fields", () => {
    const { logger, written, lines } = recording();
    logger.info({ requestId: "req_1", count: 2, units: 10n ** 30n }, "it happened");
    logger.warn("a message alone");
    for (const line of written) expect(line).to.match(/^[^\r\n]+\n$/);
    expect(lines()).to.deep.equal([
      {
        level: "info",
        time: "2023-11-14T22:13:20.000Z",
        pid: process.pid,
        requestId: "req_1",
        count: 2,
        units: "1000000000000000000000000000000",
        msg: "it happened",
      },
      { level: "warn", time: "2023-11-14T22:13:20.000Z", pid: process.pid, msg: "a message alone" },
    ]);
  });

  it("omits lines below its level", () => {
    const { logger, lines } = recording("warn");
    logger.debug("debug");
    logger.info("info");
    logger.warn("warn");
    logger.error("error");
    expect(lines().map((line) => line["level"])).to.deep.equal(["warn", "error"]);
    const silent = recording("silent");
    silent.logger.error("nothing");
    silentLogger.child({ a: 1 }).error({ b: 2 }, "nothing");
    expect(silent.written).to.deep.equal([]);
  });

  it("passes its fields on to children", () => {
    const { logger, lines } = recording();
    logger.child({ network: "tron" }).child({ tick: 7, password: "hunter22" }).info("scanned");
    expect(lines()[0]).to.include({ network: "tron", tick: 7, password: "[redacted]" });
  });

  it("redacts by name, in every spelling and at every depth", () => {
    const names = [
      ["authorization", "Authorization", "proxy-authorization", "cookie", "Set-Cookie"],
      ["X-Service-Key", "serviceKey", "service_key", "apiKey", "privateKey", "Idempotency-Key"],
      ["password", "newPassword", "password_hash", "secret", "TILL_SECRET", "clientSecret"],
      ["token", "accessToken", "refresh_token", "metricsToken", "mnemonic", "xprv", "credentials"],
    ].flat();
    for (const name of names) {
      const line = logged({ [name]: "hunter22", deep: { list: [{ [name]: { a: "hunter22" } }] } });
      expect(JSON.stringify(line), name).not.to.include("hunter22");
      expect(line[name], name).to.equal("[redacted]");
    }
    const open = { tokenSymbol: "USDT", keyId: "key_1", apiKeyId: "key_2", secret: null };
    expect(logged(open)).to.include(open);
  });

  it("redacts by form, in messages, fields, keys of URLs, and errors", () => {
    const url = `postgres://till:${secrets.databasePassword}@db.internal/till`;
    const cause = new Error(`no answer from ${url}`);
    const err = new Error(`refused ${secrets.jwt}`, { cause });
    const { logger, written } = recording();
    for (const secret of Object.values(secrets)) {
      if (secret === secrets.databasePassword) continue;
      logger.info(`before ${secret} after`);
      logger.info({ note: `x=${secret}`, list: [secret], header: `Bearer ${secret}` }, "fields");
    }
    logger.error({ err, url, at: new URL(url), map: new Map([["k", secrets.xprv]]) }, url);
    for (const secret of Object.values(secrets)) {
      expect(written.join(""), secret).not.to.include(secret);
    }
    expect(written.join("")).to.include("postgres://[redacted]@db.internal/till");
    expect(written.join("")).to.include("whsec_[redacted]").and.include("till_live_[redacted]");
  });

  it("logs an error's type, code, message and cause, but no fields that a driver attached", () => {
    const cause = Object.assign(new Error("refused"), { code: "ECONNREFUSED", port: 5432 });
    const err = Object.assign(new TypeError("no store", { cause }), {
      sql: "INSERT INTO users",
      parameters: ["hunter22"],
      original: { detail: "hunter22" },
    });
    const shown = logged({ err })["err"] as Record<string, unknown>;
    expect(shown).to.include({ type: "TypeError", message: "no store" });
    expect(shown["stack"]).to.include("logger.test.ts");
    expect(shown["cause"]).to.include({ code: "ECONNREFUSED", port: 5432, message: "refused" });
    expect(JSON.stringify(shown)).not.to.match(/hunter22|INSERT/);
    const many = logged({ err: new AggregateError([cause, cause], "both") })["err"];
    expect(many).to.have.nested.property("errors[1].code", "ECONNREFUSED");
  });

  it("never throws, whatever it is given", () => {
    const circular: Record<string, unknown> = { name: "loop" };
    circular["self"] = circular;
    const trap = {
      get explodes(): never {
        throw new Error("a getter");
      },
    };
    const wide = Array.from({ length: 60 }, () => Array.from({ length: 60 }, () => [1, 2, 3]));
    const { logger, written } = recording();
    logger.info({ circular, trap, wide, none: undefined, symbol: Symbol("s") }, "odd");
    logger.info(trap, "the fields themselves");
    logger.info({ bytes: new Uint8Array(9), set: new Set([1]), when: new Date(Number.NaN) }, "odd");
    logger.info("100%s %d %j");
    expect(written).to.have.length(4);
    expect(written.map((line) => JSON.parse(line) as unknown)).to.have.length(4);
    expect(written[3]).to.include("100%s %d %j");
  });

  it("writes no line above 16 KiB, and states the original length of a shortened one", () => {
    const { logger, written, lines } = recording();
    const long = "\u0000\u2028é".repeat(5_000);
    const fields = Object.fromEntries(["a", "b", "c", "d", "e", "f"].map((name) => [name, long]));
    logger.info({ requestId: "req_7", operation: "createInvoice", ...fields }, long);
    logger.info({ list: Array.from({ length: 100_000 }, () => "x".repeat(1_000)) }, "list");
    logger.info({ short: "x".repeat(4_000) }, "whole");
    for (const line of written) expect(Buffer.byteLength(line)).to.be.at.most(lineBytesMax);
    expect(lines()[0]).to.include({
      level: "info",
      requestId: "req_7",
      operation: "createInvoice",
    });
    expect(lines()[0]?.["cutFromBytes"]).to.be.above(lineBytesMax);
    expect(lines()[2]).not.to.have.property("cutFromBytes");
  });

  it("cannot be tricked into writing a forged line", () => {
    const { logger, written } = recording();
    logger.info({ path: '/x\r\n{"level":"error"}' }, 'a\n{"level":"error","msg":"forged"}');
    expect(written).to.have.length(1);
    expect(written[0]?.trimEnd()).not.to.match(/[\r\n]/);
  });

  it("writes only to standard error, synchronously", () => {
    const source = new URL("../../../src/platform/logger/index.ts", import.meta.url);
    const script = `
      const { createLogger } = await import(${JSON.stringify(compiledProgram(source))});
      createLogger({ level: "info" }).info("last words");
      process.kill(process.pid, "SIGKILL");`;
    const arguments_ = ["--input-type=module", "--eval", script];
    const run = spawnSync(process.execPath, arguments_, { encoding: "utf8" });
    expect(run.signal).to.equal("SIGKILL");
    expect(run.stdout).to.equal("");
    expect(JSON.parse(run.stderr)).to.include({ level: "info", msg: "last words" });
  });
});
