import { expect } from "chai";
import { createGuard, type Guard, type Resolve } from "../../../src/platform/outbound/guard.ts";
import { hostileUrls } from "./hostile-urls.ts";

const names: Readonly<Record<string, readonly string[]>> = {
  "hooks.example.com": ["93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946"],
  "half.example.com": ["93.184.216.34", "10.0.0.7"],
  "half6.example.com": ["93.184.216.34", "::ffff:10.0.0.7"],
  "private.example.com": ["10.0.0.7"],
  "metadata.example.com": ["169.254.169.254"],
  "zone.example.com": ["fe80::1%eth0"],
  "odd.example.com": ["127.1"],
  "empty.example.com": [],
  "xn--bcher-kva.example": ["93.184.216.34"],
  localhost: ["127.0.0.1", "::1"],
  "sub.localhost": ["127.0.0.1"],
};

const resolve: Resolve = (host) => {
  const addresses = names[host];
  return addresses === undefined
    ? Promise.reject(new Error("ENOTFOUND"))
    : Promise.resolve(addresses);
};

function guardOf(...allowCidrs: string[]): Guard {
  return createGuard({ allowCidrs, resolve });
}

async function codeOf(guard: Guard, url: string): Promise<string> {
  const result = await guard.vetUrl(url);
  return result.allowed ? "allowed" : result.code;
}

describe("the guard of outbound requests", () => {
  it("allows a public name and pins all of its addresses", async () => {
    const result = await guardOf().vetUrl("https://hooks.example.com:8443/in?a=1");
    expect(result).to.deep.equal({
      allowed: true,
      url: "https://hooks.example.com:8443/in?a=1",
      addresses: [
        { address: "93.184.216.34", family: 4 },
        { address: "2606:2800:220:1:248:1893:25c8:1946", family: 6 },
      ],
    });
  });

  it("allows literal public addresses, and internationalized names", async () => {
    for (const url of [
      "https://93.184.216.34/",
      "https://[2606:4700::1111]/",
      "https://bücher.example/",
      "https://hooks.example.com./",
      "HTTPS://Hooks.Example.COM/Path",
      "https://[::ffff:93.184.216.34]/",
      "https://hooks.example.com/a@b",
    ]) {
      expect(await codeOf(guardOf(), url), url).to.equal("allowed");
    }
  });

  it("drops the trailing dot of a name, which no certificate contains", async () => {
    const result = await guardOf().vetUrl("https://hooks.example.com./x");
    expect(result).to.include({ allowed: true, url: "https://hooks.example.com/x" });
  });

  for (const url of hostileUrls) {
    it(`refuses ${JSON.stringify(url)}`, async () => {
      const result = await guardOf().vetUrl(url.replaceAll("PORT", "8080"));
      expect(result.allowed).to.equal(false);
    });
  }

  it("explains what is wrong with a URL's form", async () => {
    const expected = {
      "ftp://hooks.example.com/": "url_scheme_not_allowed",
      "hooks.example.com": "url_malformed",
      "https://a:b@hooks.example.com/": "url_credentials_not_allowed",
      "https://hooks.example.com/#x": "url_fragment_not_allowed",
      "http://hooks.example.com/": "http_not_allowed",
      "https://private.example.com/": "host_not_allowed",
      "https://absent.example.com/": "host_not_allowed",
      [`https://hooks.example.com/${"a".repeat(3_000)}`]: "url_malformed",
    };
    for (const [url, code] of Object.entries(expected)) {
      expect(await codeOf(guardOf(), url), url.slice(0, 60)).to.equal(code);
    }
  });

  it("refuses a name if any of its addresses is private", async () => {
    for (const name of ["half", "half6", "metadata", "zone", "odd", "empty"]) {
      const url = `https://${name}.example.com/`;
      expect(await codeOf(guardOf(), url), url).to.equal("host_not_allowed");
    }
  });

  it("gives the same answer, without addresses, for a private name and one that does not exist", async () => {
    const guard = guardOf();
    const privateName = await guard.vetUrl("https://private.example.com/");
    const absentName = await guard.vetUrl("https://absent.example.com/");
    expect(privateName).to.deep.equal(absentName);
    expect(JSON.stringify(privateName)).to.not.contain("10.0.0.7");
  });

  it("refuses a name whose servers do not answer, within its time limit", async () => {
    const guard = createGuard({
      allowCidrs: [],
      resolve: () => new Promise(() => undefined),
      dnsMs: 20,
    });
    expect(await codeOf(guard, "https://hooks.example.com/")).to.equal("host_not_allowed");
  });

  it("survives a resolver that throws", async () => {
    const guard = createGuard({
      allowCidrs: [],
      resolve: () => {
        throw new Error("broken");
      },
    });
    expect(await codeOf(guard, "https://hooks.example.com/")).to.equal("host_not_allowed");
  });

  it("resolves nothing for a plain http URL if no range is allowed", async () => {
    let asked = 0;
    const guard = createGuard({
      allowCidrs: [],
      resolve: (host) => {
        asked += 1;
        return resolve(host);
      },
    });
    expect(await codeOf(guard, "http://private.example.com/")).to.equal("http_not_allowed");
    expect(asked).to.equal(0);
  });
});

describe("the operator's allow-list", () => {
  it("allows only its ranges, also over http", async () => {
    const guard = guardOf("10.0.0.0/24", "127.0.0.1");
    const expected = {
      "https://private.example.com/": "allowed",
      "http://private.example.com/": "allowed",
      "https://10.0.0.9/": "allowed",
      "http://127.0.0.1:9000/": "allowed",
      "http://2130706433:9000/": "allowed",
      "http://[::ffff:127.0.0.1]/": "allowed",
      "http://10.0.1.1/": "http_not_allowed",
      "https://10.0.1.1/": "host_not_allowed",
      "https://127.0.0.2/": "host_not_allowed",
      "https://half.example.com/": "allowed",
      "http://half.example.com/": "http_not_allowed",
      "http://hooks.example.com/": "http_not_allowed",
      "http://absent.example.com/": "http_not_allowed",
      "https://metadata.example.com/": "host_not_allowed",
      "https://hooks.example.com/": "allowed",
    };
    for (const [url, code] of Object.entries(expected)) {
      expect(await codeOf(guard, url), url).to.equal(code);
    }
  });

  it("covers IPv6, and localhost if both of its addresses are listed", async () => {
    expect(await codeOf(guardOf("fd00::/8"), "http://[fd00::5]/")).to.equal("allowed");
    expect(await codeOf(guardOf("127.0.0.0/8"), "http://localhost/")).to.equal("http_not_allowed");
    const both = guardOf("127.0.0.0/8", "::1");
    expect(await codeOf(both, "http://localhost/")).to.equal("allowed");
    expect(await codeOf(both, "http://localhost./")).to.equal("allowed");
  });

  it("with a translation prefix still judges the embedded address", async () => {
    const guard = guardOf("64:ff9b::/96");
    expect(await codeOf(guard, "https://[64:ff9b::808:808]/")).to.equal("allowed");
    expect(await codeOf(guard, "https://[64:ff9b::7f00:1]/")).to.equal("host_not_allowed");
    expect(await codeOf(guard, "https://[64:ff9b::a9fe:a9fe]/")).to.equal("host_not_allowed");
    const carrying6to4 = guardOf("2002::/16");
    expect(await codeOf(carrying6to4, "https://[2002:7f00:1::]/")).to.equal("host_not_allowed");
  });

  it("is refused with a malformed range", () => {
    for (const range of [
      "10.0.0.0/33",
      "10.0.0/8",
      "::/129",
      "lan",
      "",
      "10.0.0.0/8/8",
      "10.0.0.0/-1",
      "fe80::1%lo",
    ]) {
      expect(() => guardOf(range), range).to.throw("is not an address range");
    }
  });

  it("never allows the operator's own services", async () => {
    const guard = createGuard({
      allowCidrs: ["127.0.0.0/8", "10.0.0.0/8", "::1"],
      resolve,
      ownServices: () => [
        "http://0.0.0.0:8080",
        "http://localhost:8545",
        "http://private.example.com:8546",
        "http://10.0.0.9",
        "not a url",
      ],
    });
    for (const url of [
      "http://127.0.0.1:8080/",
      "http://[::1]:8080/",
      "http://localhost:8080/",
      "http://127.0.0.1:8545/",
      "http://10.0.0.7:8546/",
      "http://10.0.0.9/",
    ]) {
      expect(await codeOf(guard, url), url).to.equal("http_not_allowed");
    }
    for (const url of ["http://127.0.0.1:8081/", "http://10.0.0.8:8546/", "http://10.0.0.9:81/"]) {
      expect(await codeOf(guard, url), url).to.equal("allowed");
    }
  });
});
