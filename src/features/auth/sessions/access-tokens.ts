import { jwtVerify, SignJWT } from "jose";
import { minute, type Clock, type Instant } from "../../../kernel/clock.ts";
import type { Id } from "../../../kernel/id.ts";

/** Lifetime of an access token. */
export const accessTokenLife = 15 * minute;

/** The only algorithm used for signing and accepted for verification. */
const algorithm = "HS256";
const tokenType = "at+jwt";
const issuer = "till";
const audience = "till-api";

export interface AccessTokens {
  /** Issues a token for a session, with its expiry. */
  issue(
    userId: Id<"user">,
    sessionId: Id<"session">,
  ): Promise<{ accessToken: string; expiresAt: Instant }>;
  /** Returns the session of a token; null if the token is forged, altered, expired or of another type. */
  verify(accessToken: string): Promise<Id<"session"> | null>;
}

/** Creates the issuer. `key` is 32 bytes used for nothing else. */
export function createAccessTokens(deps: { key: Uint8Array; clock: Clock }): AccessTokens {
  const { key, clock } = deps;
  return {
    async issue(userId, sessionId) {
      const issuedAt = Math.floor(clock.now() / 1_000);
      const expiresAt = issuedAt + accessTokenLife / 1_000;
      const accessToken = await new SignJWT({ sid: sessionId })
        .setProtectedHeader({ alg: algorithm, typ: tokenType })
        .setIssuer(issuer)
        .setAudience(audience)
        .setSubject(userId)
        .setIssuedAt(issuedAt)
        .setExpirationTime(expiresAt)
        .sign(key);
      return { accessToken, expiresAt: expiresAt * 1_000 };
    },

    async verify(accessToken) {
      try {
        const { payload } = await jwtVerify(accessToken, key, {
          algorithms: [algorithm],
          typ: tokenType,
          issuer,
          audience,
          requiredClaims: ["exp", "sub", "sid"],
          currentDate: new Date(clock.now()),
        });
        const sessionId = payload["sid"];
        return typeof sessionId === "string" ? (sessionId as Id<"session">) : null;
      } catch {
        return null;
      }
    },
  };
}
