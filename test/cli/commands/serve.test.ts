import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { Agent, createServer, get, request } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "chai";
import { builtProgram } from "../../support/programs/built.ts";
import { endWithThisProcess } from "../../support/programs/guard.ts";
import {
  init,
  password,
  till,
  useFolders,
  useProcesses,
  type TillProcess,
} from "../../support/programs/till.ts";
import { until } from "../../support/until.ts";

const sandbox = { TILL_NETWORKS: "sandbox" };

describe("till serve", () => {
  const folders = useFolders();
  const processes = useProcesses();

  async function freshStore(): Promise<string> {
    const folder = join(await folders.make(), "data");
    const { code, stderr } = await init(["--data-dir", folder]);
    expect(code, stderr).to.equal(0);
    return folder;
  }

  function start(folder: string, ...words: string[]): TillProcess {
    return processes.start(["serve", "--port", "0", "--data-dir", folder, ...words], sandbox);
  }

  async function readyUrl(server: TillProcess): Promise<string> {
    const line = await server.line(/^Till is ready at /);
    return line.slice("Till is ready at ".length);
  }

  it("is not ready once the disk takes no more writes, although it can still read", async function () {
    if (process.platform === "win32") this.skip();
    const folder = await freshStore();
    // Files are limited to 600 KiB, so that the write-ahead log soon cannot grow.
    const words = ["serve", "--port", "0", "--data-dir", folder, "--registration", "open"];
    const settings = { TILL_RATES: "off", TILL_RATE_LIMIT_SCALE: "0", ...sandbox };
    const env = { PATH: process.env["PATH"] ?? "", ...settings };
    const limited = [
      "-c",
      'ulimit -f 600; exec "$0" "$@"',
      process.execPath,
      builtProgram(),
      ...words,
    ];
    const child = spawn("/bin/bash", limited, { env, stdio: ["ignore", "pipe", "ignore"] });
    endWithThisProcess(child);
    try {
      let url = "";
      let count = 0;
      for await (const line of createInterface(child.stdout)) {
        url = line.replace("Till is ready at ", "");
        break;
      }
      const down = await until(
        "a server that is not ready",
        async () => {
          count += 1;
          const person = { email: `p${String(count)}@example.com`, password: "a long password 7" };
          const headers = { "Content-Type": "application/json" };
          const body = JSON.stringify({ ...person, name: "Bo", organizationName: "Shop" });
          await fetch(`${url}/v1/auth/register`, { method: "POST", headers, body });
          const answer = await fetch(`${url}/readyz`);
          return { status: answer.status, body: (await answer.json()) as { checks: object } };
        },
        ({ status, body }) => status === 503 && JSON.stringify(body).includes('"store":"down"'),
        60_000,
      );
      expect(down.body.checks).to.deep.equal({ store: "down", scheduler: "ok" });
      expect((await fetch(`${url}/healthz`)).status).to.equal(200);
    } finally {
      child.kill("SIGKILL");
      await once(child, "exit");
    }
  });

  it("prints its address, sees the changes of commands, and exits cleanly on SIGTERM", async () => {
    const folder = await freshStore();
    const server = start(folder);
    const url = await readyUrl(server);
    expect((await fetch(`${url}/healthz`)).status).to.equal(200);
    expect((await fetch(`${url}/readyz`)).status).to.equal(200);

    const organization = (await till(["org", "list", "-q", "--data-dir", folder])).stdout.trim();
    const words = ["--organization", organization, "--name", "shop", "--scopes", "read", "--json"];
    const made = await till(["key", "create", ...words, "--data-dir", folder]);
    const { id, secret } = JSON.parse(made.stdout) as { id: string; secret: string };
    const ask = async () =>
      (
        await fetch(`${url}/v1/organizations/${organization}`, {
          headers: { "X-Service-Key": secret },
        })
      ).status;
    expect(await ask()).to.equal(200);
    expect((await till(["key", "revoke", id, "--yes", "--data-dir", folder])).code).to.equal(0);
    expect(await ask()).to.equal(401);

    process.kill(server.pid, "SIGTERM");
    expect(await server.exit()).to.deep.equal({ code: 0, signal: null });
    expect(server.stdout()).to.equal(`Till is ready at ${url}\n`);
    for (const line of server.stderr().trim().split("\n"))
      expect(JSON.parse(line)).to.be.an("object");
  });

  it("completes a request that started before SIGTERM, and accepts no new one", async () => {
    const folder = await freshStore();
    const server = start(folder);
    const url = await readyUrl(server);
    const body = JSON.stringify({ email: "ada@example.com", password: "not the right one" });
    const answered = new Promise<number>((resolve, reject) => {
      const login = request(`${url}/v1/auth/login`, {
        method: "POST",
        headers: { "Content-Type": "application/json", "Content-Length": String(body.length) },
      });
      login.once("response", (response) => {
        resolve(response.statusCode ?? 0);
        response.resume();
      });
      login.once("error", reject);
      login.write(body.slice(0, 10), () => {
        process.kill(server.pid, "SIGTERM");
        const check = setInterval(() => {
          // As soon as nobody new is let in, the rest of the body follows.
          fetch(`${url}/healthz`).then(
            (answer) => answer.arrayBuffer(),
            () => {
              clearInterval(check);
              if (!login.writableEnded) login.end(body.slice(10));
            },
          );
        }, 20);
      });
    });
    expect(await answered).to.equal(401);
    expect((await server.exit()).code).to.equal(0);
  });

  it("is not ready once asked to stop, and ends each connection by an answer that says so", async () => {
    const folder = await freshStore();
    const server = start(folder, "--stop-delay-ms", "10000");
    const url = await readyUrl(server);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ask = (path: string) =>
      new Promise<{ status: number | undefined; connection: string | undefined }>(
        (resolve, reject) => {
          get(`${url}${path}`, { agent }, (response) => {
            const { statusCode: status, headers } = response;
            response.resume().once("end", () => {
              resolve({ status, connection: headers.connection });
            });
          }).once("error", reject);
        },
      );
    expect(await ask("/readyz")).to.deep.equal({ status: 200, connection: "keep-alive" });
    process.kill(server.pid, "SIGTERM");
    await until(
      "an unready server",
      () => ask("/readyz"),
      ({ status, connection }) => status === 503 && connection === "close",
    );
    expect(await ask("/docs")).to.deep.equal({ status: 200, connection: "close" });
    process.kill(server.pid, "SIGTERM");
    expect((await server.exit()).code).to.equal(130);
  });

  it("allows one server per store, and a killed one does not block the next", async () => {
    const folder = await freshStore();
    const first = start(folder);
    const url = await readyUrl(first);
    const second = start(folder);
    expect((await second.exit()).code).to.equal(6);
    expect(second.stderr()).to.include(url).and.to.include(String(first.pid));
    expect(second.stdout()).to.equal("");
    expect((await fetch(`${url}/healthz`)).status).to.equal(200);

    process.kill(first.pid, "SIGKILL");
    await first.exit();
    // The killed one has left its card, with a number that another process may have by now.
    const card = join(folder, "server.json");
    expect(await readFile(card, "utf8")).to.include(String(first.pid));
    await writeFile(card, JSON.stringify({ pid: process.pid, url }));
    const third = start(folder);
    expect((await fetch(`${await readyUrl(third)}/healthz`)).status).to.equal(200);
    process.kill(third.pid, "SIGTERM");
    expect((await third.exit()).code).to.equal(0);
  });

  describe("serves others", () => {
    let url: string;
    before(async () => {
      url = await readyUrl(start(await freshStore(), "--trust-proxy", "127.0.0.1"));
    });

    let addresses = 0;
    /** Returns the status of a login from a new address. */
    async function login(email: string, given: string): Promise<number> {
      addresses += 1;
      const from = `203.0.${String(addresses >> 8)}.${String(addresses & 255)}`;
      const answer = await fetch(`${url}/v1/auth/login`, {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-Forwarded-For": from },
        body: JSON.stringify({ email, password: given }),
      });
      await answer.arrayBuffer();
      return answer.status;
    }

    /** Keeps 150 guesses waiting while `fn` runs. Returns the statuses of their answers. */
    async function whileGuessing(emailOf: (count: number) => string, fn: () => Promise<void>) {
      const statuses = new Set<number>();
      let isOver = false;
      const guessers = Array.from({ length: 150 }, async () => {
        while (!isOver) {
          const status = await login(emailOf(addresses), "a wrong password");
          statuses.add(status);
          // So that the refusals do not keep the machine busy.
          if (status === 503) await delay(100);
        }
      });
      try {
        await until(
          "a guess that is refused because too many wait",
          () => statuses.has(503),
          (isRefused) => isRefused,
        );
        await fn();
      } finally {
        isOver = true;
        await Promise.all(guessers);
      }
      return [...statuses].sort();
    }

    const get200 = async () => {
      expect((await fetch(`${url}/healthz`)).status).to.equal(200);
    };

    it("while 200 sockets send their headers or bodies slowly", async () => {
      const { port } = new URL(url);
      const post = "POST /v1/auth/login HTTP/1.1\r\nHost: till\r\nX-Slow: ";
      const heads = [
        post,
        `${post}\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{`,
      ];
      const sockets = Array.from({ length: 200 }, () => connect(Number(port), "127.0.0.1"));
      try {
        await Promise.all(
          sockets.map(
            (socket, place) =>
              new Promise((resolve, reject) => {
                socket.once("error", reject);
                socket.write(heads[place % heads.length] ?? "", resolve);
              }),
          ),
        );
        for (let count = 0; count < 10; count += 1) await get200();
        expect(await login("ada@example.com", password)).to.equal(200);
        expect(sockets.filter(({ destroyed }) => destroyed)).to.deep.equal([]);
      } finally {
        for (const socket of sockets) socket.destroy();
      }
    });

    it("while passwords of one account are guessed: another user's login is never refused", async () => {
      const statuses = await whileGuessing(
        () => "grace@example.com",
        async () => {
          for (let count = 0; count < 5; count += 1) {
            expect(await login("ada@example.com", password)).to.equal(200);
            await get200();
          }
        },
      );
      expect(statuses).to.deep.equal([401, 503]);
    });

    it("while passwords of many accounts are guessed: another user logs in after some attempts", async () => {
      const statuses = await whileGuessing(
        (count) => `user${String(count)}@example.com`,
        async () => {
          await get200();
          await until(
            "a login",
            () => login("ada@example.com", password),
            (status) => status === 200,
          );
        },
      );
      expect(statuses).to.deep.equal([401, 503]);
    });
  });

  describe("explains, without a stack, why it cannot start:", () => {
    async function refused(words: string[], env: Record<string, string> = {}) {
      const server = processes.start(["serve", ...words], { ...sandbox, ...env });
      const { code } = await server.exit();
      expect(server.stdout()).to.equal("");
      expect(server.stderr()).not.to.match(/\n +at /);
      return { code, stderr: server.stderr() };
    }

    it("there is no store", async () => {
      const folder = await folders.make();
      const { code, stderr } = await refused(["--data-dir", folder]);
      expect(code).to.equal(5);
      expect(stderr).to.include("till init").and.to.include(folder);
    });

    it("the port is taken", async () => {
      const folder = await freshStore();
      const other = createServer().listen(0, "127.0.0.1");
      await new Promise((resolve) => other.once("listening", resolve));
      const port = String((other.address() as AddressInfo).port);
      const { code, stderr } = await refused(["--data-dir", folder, "--port", port]);
      other.close();
      expect(code).to.equal(6);
      expect(stderr).to.include(`Port ${port} on 127.0.0.1 is in use`);
    });

    it("the data folder is a file", async () => {
      const file = join(await folders.make(), "data");
      await writeFile(file, "");
      const { code, stderr } = await refused(["--data-dir", file]);
      expect(code).to.equal(78);
      expect(stderr).to.include("is a file, not a folder");
    });

    it("the store is not a database", async () => {
      const folder = await freshStore();
      await writeFile(join(folder, "till.db"), "nothing of the kind, but long enough to be read");
      const { code, stderr } = await refused(["--data-dir", folder]);
      expect(code).to.equal(75);
      expect(stderr).to.include("not a SQLite database");
    });

    it("the database cannot be reached", async () => {
      // A port that was free a moment ago.
      const other = createServer().listen(0, "127.0.0.1");
      await new Promise((resolve) => other.once("listening", resolve));
      const { port } = other.address() as AddressInfo;
      await new Promise((resolve) => other.close(resolve));
      const { code, stderr } = await refused([], {
        DATABASE_URL: `postgres://till:a-password@127.0.0.1:${String(port)}/till`,
        TILL_SECRET: "a secret of the tests, longer than thirty-two bytes",
      });
      expect(code).to.equal(75);
      expect(stderr).not.to.include("a-password");
    });
  });
});
