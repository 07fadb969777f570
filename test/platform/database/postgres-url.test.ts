import { expect } from "chai";
import { databaseUrl, readValue, showValue } from "../../../src/platform/config/setting.ts";
import {
  nameOfPostgres,
  parsePostgresUrl,
  urlsOfHosts,
} from "../../../src/platform/database/postgres/url.ts";

/** Forms of libpq's documentation, the addresses of their hosts, and their names in messages. */
const read: readonly (readonly [string, readonly string[], string])[] = [
  ["postgres://u:p@h:5433/db", ["postgres://u:p@h:5433/db"], "postgres://h:5433/db"],
  ["postgresql://h/db", ["postgres://h/db"], "postgres://h/db"],
  ["postgres://u:p%40%23@h/db", ["postgres://u:p%40%23@h/db"], "postgres://h/db"],
  ["postgres://u:p@ss@h/db", ["postgres://u:p%40ss@h/db"], "postgres://h/db"],
  ["postgres://u@[::1]:5433/db", ["postgres://u@[::1]:5433/db"], "postgres://[::1]:5433/db"],
  [
    "postgresql:///db?host=/run/postgresql&user=u",
    ["postgres://u@localhost/db?host=%2Frun%2Fpostgresql"],
    "postgres://%2Frun%2Fpostgresql/db",
  ],
  [
    "postgres://u:p@/db?host=/run/postgresql&port=5433",
    ["postgres://u:p@localhost:5433/db?host=%2Frun%2Fpostgresql"],
    "postgres://%2Frun%2Fpostgresql:5433/db",
  ],
  [
    "postgres://%2Frun%2Fpostgresql/db",
    ["postgres://localhost/db?host=%2Frun%2Fpostgresql"],
    "postgres://%2Frun%2Fpostgresql/db",
  ],
  [
    "postgres://u:p@a:1,b,[::1]:3/db?target_session_attrs=read-write&sslmode=require",
    [
      "postgres://u:p@a:1/db?sslmode=require",
      "postgres://u:p@b/db?sslmode=require",
      "postgres://u:p@[::1]:3/db?sslmode=require",
    ],
    "postgres://a:1,b,[::1]:3/db",
  ],
  [
    "postgres:///db?host=a,b&port=5,6&target_session_attrs=primary",
    ["postgres://a:5/db", "postgres://b:6/db"],
    "postgres://a:5,b:6/db",
  ],
  [
    "postgres:///db?host=a,b&port=5",
    ["postgres://a:5/db", "postgres://b:5/db"],
    "postgres://a:5,b:5/db",
  ],
  ["postgres:///?dbname=db&user=u&password=p", ["postgres://u:p@/db"], "postgres:///db"],
];

/** Addresses that are refused, and a part of the reason. */
const refused: readonly (readonly [string, string])[] = [
  ["postgres://till:hunter@#22@h/db", "percent-encoded"],
  ["postgres://till:hunter#22@h/db", "percent-encoded"],
  ["postgres://till:12#hunter22@h/db", "percent-encoded"],
  ["postgres://till:12/hunter22@h/db", "percent-encoded"],
  ["postgres://till:hunter@12/hunter22@h/db", "percent-encoded"],
  ["postgres://till:hunter?22@h/db", "percent-encoded"],
  ["postgres://till:hunter%22%@h/db", "%25"],
  ["postgres://till:hunter22@h/db#x", "%23"],
  ["postgres://till:hunter22/h/db", "percent-encoded"],
  ["postgres://till:hunter22@h:port/db", "no port"],
  ["postgres://till:hunter22@h:99999/db", "no port"],
  ["postgres://till:hunter22@a,b/db?port=1,2,3", "as many ports"],
  ["postgres://till:hunter22@h/db?target_session_attrs=standby", "read-write"],
  ["postgres://till:hunter22@h/db?service=pay", "service"],
  ["postgres://till:hunter22@h/db?hostaddr=10.0.0.1", "hostaddr"],
  ["mysql://till:hunter22@h/db", "postgres://"],
  ["till", "postgres://"],
];

describe("an address of PostgreSQL", () => {
  for (const [given, urls, name] of read) {
    it(`is read as libpq reads it: ${given}`, () => {
      expect(urlsOfHosts(given)).to.deep.equal(urls);
      expect(nameOfPostgres(given)).to.equal(name);
      // The address of each host has the same credentials and database, and no host twice.
      for (const url of urls) {
        const { user, password, database, hosts } = parsePostgresUrl(url);
        const whole = parsePostgresUrl(given);
        expect({ user, password, database }).to.deep.equal({
          user: whole.user,
          password: whole.password,
          database: whole.database,
        });
        expect(whole.hosts).to.deep.include(hosts[0]);
      }
    });
  }

  for (const [given, reason] of refused) {
    it(`is refused with the reason and without the password: ${given}`, () => {
      let said = "";
      try {
        readValue(databaseUrl, given, "");
      } catch (error) {
        said = String(error);
      }
      expect(said).to.include("InvalidValue").and.to.include(reason);
      expect(said).not.to.match(/hunter|22/);
    });
  }

  it("is displayed with all hosts and without the password", () => {
    const shown = showValue(databaseUrl, "postgres://till:hunter22@a:1,b/db?sslmode=require&host=");
    expect(shown).to.include("till:********@a:1,b/db").and.not.to.include("hunter");
  });
});
