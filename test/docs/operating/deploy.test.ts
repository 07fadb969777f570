// The files of the deployment kit use names of the program: settings, metrics, paths, ports and commands.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { parseAllDocuments } from "yaml";
import { loadConfig } from "../../../src/platform/config/load.ts";
import { silentLogger } from "../../../src/platform/logger/index.ts";
import { createPrometheus } from "../../../src/platform/metrics/prometheus.ts";
import { startApp } from "../../support/app.ts";
import { memorySettings } from "../../support/programs/memory-settings.ts";
import { secret } from "../../support/secret.ts";
import { anyStore } from "../../support/store/stores.ts";
import { commandTree, parseError } from "./command-tree.ts";
import { commandsOf } from "./commands-of-pages.ts";

const root = new URL("../../../", import.meta.url);
const folder = "docs/operating/deploy/";

type Value = Readonly<Record<string, unknown>>;

function read(path: string): string {
  return readFileSync(new URL(path, root), "utf8");
}

/** Returns the documents of a YAML file. Throws if one has an error or a warning. */
function yaml(name: string): readonly Value[] {
  return parseAllDocuments(read(folder + name), { merge: true }).map((document) => {
    expect([...document.errors, ...document.warnings], name).to.deep.equal([]);
    return document.toJS() as Value;
  });
}

/** Returns all values of a key at any depth. */
function all(value: unknown, key: string): unknown[] {
  if (Array.isArray(value)) return (value as unknown[]).flatMap((each) => all(each, key));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value as Value).flatMap(([name, inner]) => [
    ...(name === key ? [inner] : []),
    ...all(inner, key),
  ]);
}

/** Replaces ${NAME:?message} as docker compose does. */
function interpolated(text: unknown): string {
  const given: Value = { TILL_DOMAIN: "pay.example.com", TILL_DATABASE_PASSWORD: "secret" };
  return String(text).replaceAll(/\$\{(\w+)[^}]*\}/g, (_, name: string) => String(given[name]));
}

const files = readdirSync(new URL(folder, root));
const composes = ["compose.sqlite.yaml", "compose.postgres.yaml"];
const dockerfile = read("Dockerfile");

describe("the deployment kit", () => {
  it("sets only settings that exist, to values that are valid", async () => {
    const environments: Record<string, Record<string, string>> = {};
    for (const name of composes) {
      const services = yaml(name)[0]?.["services"] as Record<string, { environment?: Value }>;
      for (const [service, { environment = {} }] of Object.entries(services)) {
        if (!service.startsWith("till")) continue;
        environments[`${name} ${service}`] = Object.fromEntries(
          Object.entries(environment).map(([key, value]) => [key, interpolated(value)]),
        );
      }
    }
    const [config] = yaml("kubernetes.yaml").filter(({ kind }) => kind === "ConfigMap");
    environments["kubernetes.yaml"] = config?.["data"] as Record<string, string>;
    environments["till.env"] = Object.fromEntries(
      read(`${folder}till.env`)
        .split("\n")
        .flatMap((line) => {
          const [, key = "", value = ""] = /^(?:# )?([A-Z][A-Z_]+)=(.*)$/.exec(line) ?? [];
          return key === "" || key === "TILL_SECRET_FILE" ? [] : [[key, value.replaceAll('"', "")]];
        }),
    );
    expect(Object.keys(environments)).to.have.length(5);
    for (const [place, { TILL_SECRET_FILE: _, ...env }] of Object.entries(environments)) {
      // An unknown or invalid setting throws.
      const { config: loaded } = await loadConfig({
        mode: "serve",
        env: { TILL_SECRET: secret, TILL_DATA_DIR: "/var/lib/till", ...env },
      }).catch((error: unknown) => {
        throw new Error(`${place}: ${String(error)}`);
      });
      expect(loaded.baseUrl, place).to.equal("https://pay.example.com");
      expect(loaded.trustProxy, place).not.to.deep.equal([]);
    }
    const names = [...dockerfile.matchAll(/(TILL_\w+)=/g)].map(([, name]) => name);
    expect(names).to.have.members(["TILL_DATA_DIR", "TILL_HOST", "TILL_PORT"]);
    for (const name of all(yaml("kubernetes.yaml"), "env").flatMap((env) => all(env, "name"))) {
      expect(String(name)).to.match(/^(DATABASE_URL|TILL_SECRET|TILL_METRICS_TOKEN|till)$/);
    }
  });

  it("limits the memory of a server in the image and in the systemd unit alike", () => {
    const unit = read(`${folder}till.service`);
    for (const setting of Object.entries(memorySettings).map((pair) => pair.join("="))) {
      expect(dockerfile).to.contain(` ${setting} `);
      expect(/^Environment=.*$/m.exec(unit)?.[0].split(/[ =](?=[A-Z])/)).to.include(setting);
    }
  });

  it("uses one port, and paths of health that are those of the program", () => {
    const port = /TILL_PORT=(\d+)/.exec(dockerfile)?.[1];
    expect(/EXPOSE (\d+)/.exec(dockerfile)?.[1]).to.equal(port);
    expect(all(yaml("kubernetes.yaml"), "containerPort")).to.deep.equal([Number(port)]);
    const upstreams = [...composes, "nginx.conf"].flatMap((name) =>
      [...read(folder + name).matchAll(/(?:till(?:-\d)?|127\.0\.0\.1):(\d+)\b/g)].map(
        ([, found]) => found,
      ),
    );
    expect(upstreams.length).to.be.above(3);
    expect(new Set(upstreams.filter((found) => found !== "0"))).to.deep.equal(new Set([port]));
    const paths = [dockerfile, ...files.map((name) => read(folder + name))].flatMap((text) =>
      [...text.matchAll(/\/(?:healthz|readyz|health\w*|ready\w*)\b/g)].map(([path]) => path),
    );
    expect(new Set(paths)).to.deep.equal(new Set(["/healthz", "/readyz"]));
  });

  it("pins every image, and runs as a user without privileges on a root that cannot be written", () => {
    const images = [
      ...[...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image),
      ...composes.flatMap((name) => all(yaml(name), "image")),
      ...all(yaml("kubernetes.yaml"), "image"),
    ];
    for (const image of images) {
      expect(String(image)).to.match(/^\w+(:\d+\.\d+(\.\d+)?(-[\w-]+)?|@sha256:[0-9a-f]{64})$/);
    }
    expect(dockerfile)
      .to.match(/^USER node$/m)
      .and.to.match(/^STOPSIGNAL SIGTERM$/m);
    for (const name of composes) {
      const services = yaml(name)[0]?.["services"] as Record<string, Value>;
      for (const [service, settings] of Object.entries(services)) {
        if (!service.startsWith("till")) continue;
        expect(settings).to.deep.include({ read_only: true, cap_drop: ["ALL"] });
      }
    }
    const contexts = all(yaml("kubernetes.yaml"), "securityContext") as Value[];
    expect(contexts.filter((each) => each["readOnlyRootFilesystem"] === true)).to.have.length(2);
    expect(contexts.filter((each) => each["runAsNonRoot"] === true)).to.have.length(2);
  });

  it("starts with commands that exist", async () => {
    const program = await commandTree();
    const commands: string[][] = [["serve"]];
    expect(dockerfile).to.include('CMD ["serve"]');
    for (const args of all(yaml("kubernetes.yaml"), "args")) commands.push(args as string[]);
    for (const name of files) {
      // Commands in comments are indented.
      const text = read(folder + name).replaceAll(/^# {3}(.*)$/gm, "```sh\n$1\n```");
      const joined = text.replaceAll(/\\\n```\n```sh\n/g, "");
      commands.push(...commandsOf({ path: name, text: joined }).map(({ words }) => [...words]));
    }
    const started = /^ExecStart=\S*\/till (.*)$/m.exec(read(`${folder}till.service`))?.[1];
    commands.push((started ?? "").split(" "));
    expect(commands.length).to.be.above(5);
    for (const words of commands) {
      expect(await parseError(program, words), words.join(" ")).to.equal(null);
    }
  });

  it("lets systemd wait for the server's notice, and passes event streams on at once", () => {
    const unit = read(`${folder}till.service`);
    expect(unit)
      .to.match(/^Type=notify$/m)
      .and.to.match(/^NotifyAccess=all$/m);
    expect(read(`${folder}nginx.conf`)).to.include("proxy_buffering off;");
    expect(read(`${folder}Caddyfile`)).to.include("flush_interval -1");
    for (const name of ["nginx.conf", "Caddyfile", "kubernetes.yaml"]) {
      expect(read(folder + name), name).to.include("/metrics");
    }
  });

  it("is described: the pages name every file", () => {
    const pages = readdirSync(new URL("docs/operating/", root))
      .filter((name) => name.endsWith(".md"))
      .map((name) => read(`docs/operating/${name}`))
      .join("\n");
    for (const name of files) expect(pages).to.include(`deploy/${name}`);
    for (const [path] of pages.matchAll(/docs\/operating\/deploy\/[\w.-]*\w/g)) {
      expect(existsSync(new URL(path, root)), path).to.equal(true);
    }
  });
});

anyStore("the dashboard and the alerts", (store) => {
  it("use metrics that the program has, with their labels, and the dashboard uses all of them", async () => {
    const app = await startApp({
      place: await store.place("migrated"),
      outside: { metrics: createPrometheus({ version: "1.2.3", logger: silentLogger }) },
      background: false,
    });
    const page = (await app.request("GET", "/metrics")).text;
    const types = new Map(
      [...page.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = "", type = ""]) => [name, type]),
    );
    await app.stop();

    const usedIn = (texts: readonly string[]) =>
      new Set(
        texts.flatMap((text) =>
          [...text.matchAll(/\b(?:till|process|nodejs)_\w+/g)].map(([name]) => {
            const base = name.replace(/_(bucket|count|sum)$/, "");
            return types.get(base) === "histogram" ? base : name;
          }),
        ),
      );
    const dashboard = JSON.parse(read(`${folder}grafana-dashboard.json`)) as Value;
    const alerts = yaml("alerts.yaml");
    const shown = usedIn(all(dashboard, "expr").map(String));
    const alerted = usedIn(all(alerts, "expr").map(String));
    const unknown = [...shown, ...alerted].filter((name) => !types.has(name));
    expect(unknown).to.deep.equal([]);
    const own = [...types.keys()].filter((name) => name.startsWith("till_"));
    expect(own.length).to.be.above(20);
    expect(own.filter((name) => !shown.has(name))).to.deep.equal([]);

    const known = read("docs/operating/monitoring.md");
    expect(own.filter((name) => !known.includes(`\`${name}\``))).to.deep.equal([]);
    const names = all(alerts, "alert").map(String);
    expect(new Set(names).size).to.equal(names.length);
    for (const severity of all(alerts, "severity"))
      expect(severity).to.match(/^(critical|warning)$/);
  });
});
