import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { get } from "node:https";
import { join } from "node:path";
import { until } from "../until.ts";
import { freePort } from "./free-port.ts";
import { endWithThisProcess } from "./guard.ts";

export const deployFolder = new URL("../../../docs/operating/deploy/", import.meta.url);

/** A proxy in front of a server, as a process of its own. */
export interface Proxy {
  readonly url: string;
  stop(): Promise<void>;
}

/** Waits until a proxy passes on requests. */
export async function started(child: ChildProcess, url: string): Promise<Proxy> {
  endWithThisProcess(child);
  let said = "";
  child.stderr?.on("data", (chunk: Buffer) => (said += chunk.toString("utf8")));
  const ended = once(child, "exit");
  // The server behind it may run in this process.
  const answers = () =>
    new Promise<boolean>((resolve) => {
      if (child.exitCode !== null) throw new Error(`the proxy ended: ${said}`);
      get(`${url}/healthz`, { rejectUnauthorized: false, agent: false }, (response) => {
        response.resume();
        resolve(true);
      }).on("error", () => {
        resolve(false);
      });
    });
  await until("the proxy", answers, (does) => does);
  return {
    url,
    async stop() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}

/** Starts nginx with the shipped file; only its ports, name and certificate are replaced. */
export async function startNginx(
  folder: string,
  upstreamPort: number,
  port: number,
): Promise<Proxy> {
  const certificate = join(folder, "cert.pem");
  const key = join(folder, "key.pem");
  const subject = ["-subj", "/CN=127.0.0.1", "-days", "2", "-nodes"];
  const newKey = ["-x509", "-newkey", "rsa:2048", "-keyout", key, "-out", certificate];
  execFileSync("openssl", ["req", ...newKey, ...subject], { stdio: "ignore" });
  const shipped = readFileSync(new URL("nginx.conf", deployFolder), "utf8")
    .replace("127.0.0.1:8080", `127.0.0.1:${String(upstreamPort)}`)
    .replace("listen 80;", `listen 127.0.0.1:${String(await freePort())};`)
    .replace("listen 443", `listen 127.0.0.1:${String(port)}`)
    .replaceAll("pay.example.com;", "127.0.0.1;")
    .replace(/ssl_certificate .*/, `ssl_certificate ${certificate};`)
    .replace(/ssl_certificate_key .*/, `ssl_certificate_key ${key};`);
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  const file = join(folder, "nginx.conf");
  const events = "daemon off; error_log stderr; events { worker_connections 4096; }";
  const http = `access_log off; ${temporary.join(" ")} ${shipped}`;
  await writeFile(file, `${events} pid ${folder}/pid; http { ${http} }`);
  const child = spawn("nginx", ["-c", file, "-p", folder], { stdio: ["ignore", "ignore", "pipe"] });
  return started(child, `https://127.0.0.1:${String(port)}`);
}
