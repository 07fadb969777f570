import { expect } from "chai";
import { createServer, type IncomingMessage } from "node:http";
import { connect, type AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import {
  describeWayOut,
  makeOutwardFetch,
  readProxySettings,
} from "../../../src/platform/outbound/proxy.ts";

describe("The proxy for providers and rate sources", () => {
  const connects: { target: string; authorization: string | undefined }[] = [];
  let refusal: string | null = null;
  let proxyPort = 0;
  let nodePort = 0;
  const node = createServer((_, response) => response.end("reached"));
  /** A small proxy that connects every host to the one node. */
  const proxy = createServer();

  before(async () => {
    proxy.on("connect", (request: IncomingMessage, socket: Duplex) => {
      const authorization = request.headers["proxy-authorization"];
      connects.push({ target: request.url ?? "", authorization });
      if (refusal !== null) {
        socket.end(`HTTP/1.1 ${refusal}\r\n\r\n`);
        return;
      }
      const onward = connect(nodePort, "127.0.0.1", () => {
        socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
        onward.pipe(socket).pipe(onward);
      });
      for (const end of [onward, socket]) end.on("error", () => end.destroy());
    });
    await Promise.all(
      [node, proxy].map((server) => new Promise<void>((done) => server.listen(0, done))),
    );
    nodePort = (node.address() as AddressInfo).port;
    proxyPort = (proxy.address() as AddressInfo).port;
  });
  after(() => {
    for (const server of [node, proxy]) {
      server.closeAllConnections();
      server.close();
    }
  });
  beforeEach(() => {
    connects.length = 0;
    refusal = null;
  });

  const read = (env: Record<string, string>) => {
    const problems: string[] = [];
    const settings = readProxySettings(env, (name, message) => problems.push(`${name} ${message}`));
    return { settings, problems };
  };
  const get = async (env: Record<string, string>, url: string) => {
    const fetching = makeOutwardFetch(read(env).settings);
    const answer = await fetching(url, { redirect: "manual" });
    return answer.text();
  };

  for (const name of ["HTTP_PROXY", "http_proxy"]) {
    it(`is the one of ${name}, with its credentials`, async () => {
      const env = { [name]: `http://till:s3cret@127.0.0.1:${String(proxyPort)}` };
      expect(await get(env, "http://node.example/v2/key")).to.equal("reached");
      const authorization = `Basic ${Buffer.from("till:s3cret").toString("base64")}`;
      expect(connects).to.deep.equal([{ target: "node.example:80", authorization }]);
    });
  }

  it("is used for https:// by HTTPS_PROXY, and the failure does not show its credentials", async () => {
    refusal = "407 Proxy Authentication Required";
    const env = { HTTPS_PROXY: `http://till:s3cret@127.0.0.1:${String(proxyPort)}` };
    const error = await get(env, "https://node.example/").catch((cause: unknown) => cause as Error);
    expect(connects.map(({ target }) => target)).to.deep.equal(["node.example:443"]);
    expect((error as Error).cause).to.deep.equal({ code: "the proxy answered HTTP 407" });
    expect(JSON.stringify([String(error), (error as Error).cause])).to.not.include("s3cret");
  });

  it("is not used for hosts of NO_PROXY, nor for this machine", async () => {
    const env = { HTTP_PROXY: `127.0.0.1:${String(proxyPort)}` };
    const own = `127.0.0.1:${String(nodePort)}`;
    expect(await get(env, `http://${own}/`)).to.equal("reached");
    for (const name of ["NO_PROXY", "no_proxy"]) {
      const except = { ...env, [name]: "other.example, node.invalid" };
      await get(except, "http://rpc.node.invalid/").catch(() => null);
      await get({ ...env, [name]: "*" }, "http://node.invalid/").catch(() => null);
    }
    expect(connects).to.deep.equal([]);
  });

  it("is not used for addresses in a range of NO_PROXY", async () => {
    const env = {
      HTTP_PROXY: `127.0.0.1:${String(proxyPort)}`,
      NO_PROXY: "127.0.0.0/8,nonsense/7",
    };
    await get(env, `http://127.0.0.2:${String(nodePort)}/`).catch(() => null);
    expect(connects).to.deep.equal([]);
    expect(await get(env, "http://192.0.2.1/")).to.equal("reached");
    expect(connects.map(({ target }) => target)).to.deep.equal(["192.0.2.1:80"]);
  });

  it("is Node's own fetch without a proxy", () => {
    expect(makeOutwardFetch(read({}).settings)).to.equal(fetch);
    expect(makeOutwardFetch(read({ HTTPS_PROXY: " " }).settings)).to.equal(fetch);
  });

  it("is described without credentials, and one that cannot be used is named", () => {
    const { settings } = read({
      HTTPS_PROXY: "http://till:s3cret@proxy.example:3128",
      NO_PROXY: "10.0.0.5",
    });
    expect(describeWayOut(settings)).to.equal(
      "Providers and rate sources are reached by https:// through http://proxy.example:3128, http:// without a proxy, except the hosts in NO_PROXY: 10.0.0.5. Webhooks use no proxy.",
    );
    expect(describeWayOut(read({}).settings)).to.match(/without a proxy/);
    expect(read({ https_proxy: "socks5://till:s3cret@proxy:1080" }).problems).to.deep.equal([
      "https_proxy must be the http:// or https:// URL of a proxy, such as http://proxy:3128",
    ]);
  });
});
