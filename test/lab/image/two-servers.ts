// Two servers on PostgreSQL behind nginx with its shipped file, all in one pod: a server is stopped, and another is killed,
// under requests, and nothing that was acknowledged is lost.
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { get } from "node:https";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { openDatabase } from "../../../src/platform/database/open.ts";
import { deployFolder } from "../../support/programs/proxy.ts";
import { secret } from "../../support/secret.ts";
import { until } from "../../support/until.ts";
import { startLoad, type Answer } from "../faults/load.ts";
import { settle } from "../faults/settle.ts";
import { openShopIn, shopSettings } from "../shop.ts";
import { makeContainerInstallation } from "./containers.ts";
import type { Engine } from "./engine.ts";
import { stopMsMax } from "./lines.ts";
import type { Table } from "./table.ts";

const area = "two servers";
const address = "10.213.77.10";
const database = `postgres://till@${address}:5432/till`;
/** The time of the load around each event, in milliseconds. */
const loadMs = Number(process.env["PROVE_SECONDS"] ?? "10") * 1_000;
/** Webhooks are not part of this proof. */
const receiver = { requests: [] };

/** The pod's nginx and PostgreSQL are Debian's, on the Dockerfile's own base. */
const companions = (base: string) => `FROM ${base}
RUN apt-get update && apt-get install -y --no-install-recommends nginx-light postgresql && rm -rf /var/lib/apt/lists/*
`;

/** Keeps PostgreSQL's folder in the container; its flushes are those of a real server. */
const startPostgres = `set -e
cd /tmp
folder=$(ls -d /usr/lib/postgresql/*/bin)
"$folder/initdb" -D /tmp/data -U till -A trust -E UTF8 --locale=C
echo "host all all ${address.replace(/\d+$/, "0/24")} trust" >> /tmp/data/pg_hba.conf
echo "create database till" | "$folder/postgres" --single -D /tmp/data postgres
exec "$folder/postgres" -D /tmp/data -c listen_addresses='*' -c unix_socket_directories=/tmp
`;

export async function proveTwoServers(
  engine: Engine,
  table: Table,
  { base, folder }: { readonly base: string; readonly folder: string },
): Promise<void> {
  await buildCompanions(engine, base, folder);
  await engine.run(["pod", "create", "--name", "pod", "--ip", address]);
  const inPod = ["run", "--detach", "--pod", "pod"];
  const postgres = [
    "--name",
    "postgres",
    "--user",
    "postgres",
    "companions",
    "sh",
    "-c",
    startPostgres,
  ];
  await engine.run([...inPod, ...postgres]);
  await until(
    "PostgreSQL",
    () => isAnswering(database),
    (does) => does,
  );

  const installation = makeContainerInstallation(engine, {
    name: "till",
    settings: {
      ...shopSettings,
      DATABASE_URL: "postgres://till@127.0.0.1:5432/till",
      TILL_SECRET: secret,
      TILL_BASE_URL: `https://${address}`,
      // The load stands for another proxy, which names an address for each payer.
      TILL_TRUST_PROXY: `127.0.0.1,${address.replace(/\d+$/, "1")}`,
    },
    words: ["--pod", "pod"],
    host: address,
  });
  const shop = await openShopIn(installation);
  const first = installation.newest();
  await shop.issue(1);
  const second = await installation.serve({ TILL_PORT: "8081" });
  const secondName = installation.newest();
  await startNginx(engine, folder);

  // The certificate is the proof's own.
  process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";
  const ground = {
    name: "image",
    shop,
    servers: [{ url: `https://${address}` }],
    receiver,
    openStore: () => openDatabase({ url: database }),
  };
  const load = startLoad(ground);
  const since = (place: number) => load.answers.slice(place);
  const failed = (place: number) =>
    since(place).filter(({ status }) => status === 0 || status >= 400).length;
  try {
    await delay(loadMs);
    const served = await Promise.all([first, secondName].map((name) => answersOf(engine, name)));
    table.line(
      area,
      "both serve behind nginx",
      served.every((count) => count > 10),
      `${served.join(" and ")} answers`,
    );

    const atStop = load.answers.length;
    const startedAt = performance.now();
    const code = await shop.server.stop();
    const ms = performance.now() - startedAt;
    await delay(loadMs);
    const unanswered = failed(atStop);
    table.line(
      area,
      "one is stopped: exit code 0 within the stop time",
      code === 0 && ms < stopMsMax,
      `${String(code)}, ${(ms / 1_000).toFixed(1)} s`,
    );
    table.line(
      area,
      "one is stopped: every request is answered",
      unanswered === 0,
      `${String(since(atStop).length)} requests, ${String(unanswered)} failed`,
    );
    await installation.serve();

    const atKill = load.answers.length;
    await second.kill();
    await delay(loadMs);
    const lastSecond = since(atKill).slice(-10);
    table.line(
      area,
      "the other is killed: the first goes on",
      lastSecond.every(({ status }) => status > 0 && status < 400),
      `${String(since(atKill).length)} requests, answered with ${tally(since(atKill))}`,
    );
    await installation.serve({ TILL_PORT: "8081" });
    await delay(loadMs / 2);
  } finally {
    await load.stop();
  }
  const figures = await settle(ground, load);
  // nginx answers 502 for the requests that the killed server had.
  const faults = figures.faults.filter((fault) => !/^\d+ × 502 /.test(fault));
  const { requests, acknowledged, found, lost, doubled } = figures;
  table.line(
    area,
    "nothing acknowledged is lost or doubled",
    lost === 0 && doubled === 0 && acknowledged > 50,
    { requests, acknowledged, found, lost, doubled },
  );
  table.line(area, "the store is whole, and no answer was wrong", faults.length === 0, faults);
}

/** Returns how many answers have each status, in words. */
function tally(answers: readonly Answer[]): string {
  const counts = new Map<number, number>();
  for (const { status } of answers) counts.set(status, (counts.get(status) ?? 0) + 1);
  return [...counts].map(([status, count]) => `${String(count)} × ${String(status)}`).join(", ");
}

async function buildCompanions(engine: Engine, base: string, folder: string): Promise<void> {
  const context = join(folder, "companions");
  mkdirSync(context, { recursive: true });
  writeFileSync(join(context, "Dockerfile"), companions(base));
  await engine.run(["build", "--tag", "companions", context]);
}

/** Starts nginx with the shipped file: a second server is added as its comment says. */
async function startNginx(engine: Engine, folder: string): Promise<void> {
  const shipped = readFileSync(new URL("nginx.conf", deployFolder), "utf8");
  const file = join(folder, "nginx.conf");
  writeFileSync(file, shipped.replace("# server 10.0.0.12:8080", "server 127.0.0.1:8081"));
  const certificates = join(folder, "certificates");
  mkdirSync(certificates, { recursive: true });
  const [key, certificate] = ["privkey.pem", "fullchain.pem"].map((name) =>
    join(certificates, name),
  );
  execFileSync(
    "openssl",
    [
      "req",
      "-x509",
      "-newkey",
      "rsa:2048",
      "-nodes",
      "-days",
      "2",
      "-subj",
      "/CN=pay.example.com",
    ].concat(["-keyout", key ?? "", "-out", certificate ?? ""]),
    { stdio: "ignore" },
  );
  chmodSync(file, 0o644);
  await engine.run([
    ...["run", "--detach", "--pod", "pod", "--name", "nginx"],
    ...["--volume", `${file}:/etc/nginx/conf.d/till.conf:ro`],
    ...["--volume", `${certificates}:/etc/letsencrypt/live/pay.example.com:ro`],
    ...["companions", "nginx", "-g", "daemon off;"],
  ]);
  await until(
    "nginx",
    () => answersHttps(`https://${address}/readyz`),
    (does) => does,
  );
}

function answersHttps(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    get(url, { rejectUnauthorized: false, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    }).on("error", () => {
      resolve(false);
    });
  });
}

async function isAnswering(url: string): Promise<boolean> {
  try {
    const db = await openDatabase({ url });
    await db.all("SELECT 1");
    await db.close();
    return true;
  } catch {
    return false;
  }
}

/** Returns how many requests a server has answered, which it tells its own machine. */
async function answersOf(engine: Engine, server: string): Promise<number> {
  const program =
    "fetch(`http://127.0.0.1:${process.env.TILL_PORT}/metrics`).then((answer) => answer.text()).then(console.log)";
  const metrics = await engine.run(["exec", server, "node", "-e", program]);
  return [...metrics.matchAll(/^till_http_request_duration_seconds_count\{.*\} (\d+)$/gm)].reduce(
    (sum, [, count]) => sum + Number(count),
    0,
  );
}
