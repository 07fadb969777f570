import { jwtVerify, SignJWT } from "jose";
import { perApp, type App } from "../../app.ts";
import type { MembershipAccess } from "../../http/declare/permissions.ts";
import type { UserActor } from "../../kernel/actor.ts";
import { minute, type Instant } from "../../kernel/clock.ts";
import type { Id } from "../../kernel/id.ts";
import { deriveKey } from "../../platform/secrets/server-secret.ts";
import { liveSession, membership, type LiveSession } from "./store.ts";

// Lookups for the authorization of every request, so that logout, removal and demotion take effect at once.

/** Lifetime of an access token. */
const accessTokenLife = 15 * minute;

/** The only algorithm used for signing and accepted for verification. */
const algorithm = "HS256";
const tokenType = "at+jwt";
const issuer = "till";
const audience = "till-api";

const accessTokenKey = perApp((app) => deriveKey(app.secret, "access-tokens"));

/** Issues an access token for a session, with its expiry. */
export async function issueAccessToken(
  app: App,
  userId: Id<"user">,
  sessionId: Id<"session">,
): Promise<{ accessToken: string; expiresAt: Instant }> {
  const issuedAt = Math.floor(app.clock.now() / 1_000);
  const expiresAt = issuedAt + accessTokenLife / 1_000;
  const accessToken = await new SignJWT({ sid: sessionId })
    .setProtectedHeader({ alg: algorithm, typ: tokenType })
    .setIssuer(issuer)
    .setAudience(audience)
    .setSubject(userId)
    .setIssuedAt(issuedAt)
    .setExpirationTime(expiresAt)
    .sign(accessTokenKey(app));
  return { accessToken, expiresAt: expiresAt * 1_000 };
}

/** Returns the user of an access token; null if the token is not valid or its session has ended. */
export async function authenticateUser(app: App, accessToken: string): Promise<UserActor | null> {
  const sessionId = await sessionOfAccessToken(app, accessToken);
  const session = sessionId === null ? null : await liveSession(app.db, sessionId);
  return session === null ? null : userActor(session);
}

/** Returns the session of a token; null if the token is forged, altered, expired or of another type. */
async function sessionOfAccessToken(app: App, accessToken: string): Promise<Id<"session"> | null> {
  try {
    const { payload } = await jwtVerify(accessToken, accessTokenKey(app), {
      algorithms: [algorithm],
      typ: tokenType,
      issuer,
      audience,
      requiredClaims: ["exp", "sub", "sid"],
      currentDate: new Date(app.clock.now()),
    });
    const sessionId = payload["sid"];
    return typeof sessionId === "string" ? (sessionId as Id<"session">) : null;
  } catch {
    return null;
  }
}

/** Returns a user's role in an organization, with the organization's status; null unless they are a member. */
export async function membershipAccess(
  app: App,
  userId: Id<"user">,
  organizationId: Id<"organization">,
): Promise<MembershipAccess | null> {
  const found = await membership(app.db, userId, organizationId);
  return found === null
    ? null
    : {
        organizationId,
        organizationStatus: found.status,
        isApproved: found.verificationStatus === "approved",
        role: found.role,
      };
}

/** Returns the actor of a session. */
export function userActor(session: LiveSession): UserActor {
  return {
    type: "user",
    id: session.userId,
    label: session.email,
    sessionId: session.sessionId,
    platformRole: session.isAdmin === 1 ? "admin" : "none",
  };
}
