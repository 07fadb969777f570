import type { Migration } from "../migrate.ts";

/** Users, organizations, organization reviews, sessions and API keys. */
export const migration: Migration = {
  version: 2,
  name: "identity",
  up: (types) => [
    `CREATE TABLE users (
      id ${types.text} PRIMARY KEY,
      email ${types.text} NOT NULL,
      name ${types.text} NOT NULL,
      password_hash ${types.text} NOT NULL,
      created_at ${types.time} NOT NULL
    )`,
    `CREATE UNIQUE INDEX users_email ON users (email)`,
    `CREATE TABLE organizations (
      id ${types.text} PRIMARY KEY,
      name ${types.text} NOT NULL,
      display_name ${types.text} NOT NULL,
      is_platform ${types.flag} NOT NULL,
      status ${types.text} NOT NULL,
      verification_status ${types.text} NOT NULL,
      legal_name ${types.text},
      registration_number ${types.text},
      country ${types.text},
      address ${types.text},
      website ${types.text},
      contact_email ${types.text},
      business_description ${types.text},
      review_note ${types.text},
      kyb_submitted_at ${types.time},
      reviewed_at ${types.time},
      late_payments ${types.text} NOT NULL CHECK (late_payments IN ('accept', 'review')),
      version ${types.integer} NOT NULL,
      created_at ${types.time} NOT NULL,
      updated_at ${types.time} NOT NULL
    )`,
    `CREATE UNIQUE INDEX organizations_platform ON organizations (is_platform) WHERE is_platform = 1`,
    `CREATE INDEX organizations_verification ON organizations (verification_status, id)`,
    `CREATE INDEX organizations_late_review ON organizations (id) WHERE late_payments = 'review'`,
    `CREATE TABLE memberships (
      id ${types.text} PRIMARY KEY,
      user_id ${types.text} NOT NULL REFERENCES users (id),
      organization_id ${types.text} NOT NULL REFERENCES organizations (id),
      role ${types.text} NOT NULL,
      created_at ${types.time} NOT NULL
    )`,
    `CREATE UNIQUE INDEX memberships_user ON memberships (user_id, organization_id)`,
    `CREATE INDEX memberships_organization ON memberships (organization_id, id)`,
    `CREATE TABLE invitations (
      id ${types.text} PRIMARY KEY,
      organization_id ${types.text} NOT NULL REFERENCES organizations (id),
      email ${types.text} NOT NULL,
      role ${types.text} NOT NULL,
      token_hash ${types.text} NOT NULL,
      invited_by ${types.text},
      created_at ${types.time} NOT NULL,
      expires_at ${types.time} NOT NULL,
      accepted_at ${types.time},
      revoked_at ${types.time}
    )`,
    `CREATE UNIQUE INDEX invitations_token ON invitations (token_hash)`,
    `CREATE INDEX invitations_expiry ON invitations (expires_at)`,
    `CREATE INDEX invitations_organization ON invitations (organization_id, id)`,
    `CREATE INDEX invitations_open ON invitations (organization_id, email) WHERE accepted_at IS NULL AND revoked_at IS NULL`,
    `CREATE TABLE organization_reviews (
      id ${types.text} PRIMARY KEY,
      organization_id ${types.text} NOT NULL REFERENCES organizations (id),
      decision ${types.text} NOT NULL,
      from_status ${types.text} NOT NULL,
      to_status ${types.text} NOT NULL,
      note ${types.text},
      reviewer_id ${types.text},
      reviewer_email ${types.text},
      created_at ${types.time} NOT NULL
    )`,
    `CREATE INDEX organization_reviews_organization ON organization_reviews (organization_id, id)`,
    `CREATE TABLE sessions (
      id ${types.text} PRIMARY KEY,
      user_id ${types.text} NOT NULL REFERENCES users (id),
      created_at ${types.time} NOT NULL,
      revoked_at ${types.time}
    )`,
    `CREATE INDEX sessions_user ON sessions (user_id, id)`,
    `CREATE TABLE refresh_tokens (
      token_hash ${types.text} PRIMARY KEY,
      session_id ${types.text} NOT NULL REFERENCES sessions (id),
      created_at ${types.time} NOT NULL,
      expires_at ${types.time} NOT NULL,
      used_at ${types.time}
    )`,
    `CREATE INDEX refresh_tokens_session ON refresh_tokens (session_id)`,
    `CREATE INDEX refresh_tokens_expiry ON refresh_tokens (expires_at)`,
    `CREATE TABLE password_resets (
      token_hash ${types.text} PRIMARY KEY,
      user_id ${types.text} NOT NULL REFERENCES users (id),
      created_at ${types.time} NOT NULL,
      expires_at ${types.time} NOT NULL,
      used_at ${types.time}
    )`,
    `CREATE INDEX password_resets_user ON password_resets (user_id)`,
    `CREATE INDEX password_resets_expiry ON password_resets (expires_at)`,
    `CREATE TABLE api_keys (
      id ${types.text} PRIMARY KEY,
      organization_id ${types.text} NOT NULL REFERENCES organizations (id),
      name ${types.text} NOT NULL,
      prefix ${types.text} NOT NULL,
      secret_hash ${types.text} NOT NULL,
      scopes ${types.json} NOT NULL,
      created_by ${types.text},
      created_at ${types.time} NOT NULL,
      last_used_at ${types.time},
      expires_at ${types.time},
      revoked_at ${types.time}
    )`,
    `CREATE UNIQUE INDEX api_keys_secret ON api_keys (secret_hash)`,
    `CREATE INDEX api_keys_organization ON api_keys (organization_id, id)`,
  ],
};
