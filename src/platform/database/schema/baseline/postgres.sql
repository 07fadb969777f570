CREATE TABLE meta (
  name TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  value TEXT COLLATE "C" NOT NULL
);

CREATE TABLE leases (
  name TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  holder TEXT COLLATE "C" NOT NULL,
  token BIGINT NOT NULL,
  until BIGINT NOT NULL
);

CREATE TABLE cron_runs (
  task TEXT COLLATE "C" NOT NULL,
  scheduled_at BIGINT NOT NULL,
  PRIMARY KEY (task, scheduled_at)
);

CREATE TABLE jobs (
  id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  queue TEXT COLLATE "C" NOT NULL,
  name TEXT COLLATE "C" NOT NULL,
  payload TEXT COLLATE "C" NOT NULL,
  dedupe_key TEXT COLLATE "C",
  organization_id TEXT COLLATE "C",
  state TEXT COLLATE "C" NOT NULL CHECK (state IN ('ready', 'failed')),
  run_at BIGINT NOT NULL,
  attempts BIGINT NOT NULL,
  max_attempts BIGINT NOT NULL,
  lease_until BIGINT,
  lease_token TEXT COLLATE "C",
  failed_reason TEXT COLLATE "C",
  failed_at BIGINT,
  created_at BIGINT NOT NULL
);

CREATE INDEX jobs_ready ON jobs (queue, run_at, id) WHERE state = 'ready';

CREATE UNIQUE INDEX jobs_dedupe ON jobs (queue, dedupe_key)
  WHERE state = 'ready' AND dedupe_key IS NOT NULL;

CREATE INDEX jobs_failed ON jobs (queue, failed_at, id) WHERE state = 'failed';

CREATE TABLE events (
  id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  organization_id TEXT COLLATE "C",
  type TEXT COLLATE "C" NOT NULL,
  api_version TEXT COLLATE "C" NOT NULL,
  object_type TEXT COLLATE "C" NOT NULL,
  object_id TEXT COLLATE "C" NOT NULL,
  object_version BIGINT NOT NULL,
  payload TEXT COLLATE "C" NOT NULL,
  occurred_at BIGINT NOT NULL,
  position BIGINT
);

CREATE INDEX events_unpositioned ON events (id) WHERE position IS NULL;

CREATE UNIQUE INDEX events_position ON events (position) WHERE position IS NOT NULL;

CREATE INDEX events_organization ON events (organization_id, position) WHERE position IS NOT NULL;

CREATE TABLE audit_logs (
  id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  organization_id TEXT COLLATE "C",
  actor_type TEXT COLLATE "C" NOT NULL,
  actor_id TEXT COLLATE "C",
  actor_label TEXT COLLATE "C" NOT NULL,
  action TEXT COLLATE "C" NOT NULL,
  target_type TEXT COLLATE "C" NOT NULL,
  target_id TEXT COLLATE "C" NOT NULL,
  ip TEXT COLLATE "C",
  request_id TEXT COLLATE "C",
  changes TEXT COLLATE "C" NOT NULL,
  position BIGINT,
  hash TEXT COLLATE "C",
  created_at BIGINT NOT NULL
);

CREATE INDEX audit_logs_organization ON audit_logs (organization_id, id);

CREATE INDEX audit_logs_action ON audit_logs (organization_id, action, id);

CREATE INDEX audit_logs_actor ON audit_logs (organization_id, actor_id, id);

CREATE INDEX audit_logs_actor_action ON audit_logs (organization_id, actor_id, action, id) WHERE actor_id IS NOT NULL;

CREATE INDEX audit_logs_platform_action ON audit_logs (action, id);

CREATE INDEX audit_logs_platform_actor ON audit_logs (actor_id, id);

CREATE INDEX audit_logs_platform_actor_action ON audit_logs (actor_id, action, id) WHERE actor_id IS NOT NULL;

CREATE INDEX audit_logs_unsealed ON audit_logs (id) WHERE position IS NULL;

CREATE UNIQUE INDEX audit_logs_position ON audit_logs (position) WHERE position IS NOT NULL;

CREATE TABLE idempotency_keys (
  claim TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  fingerprint TEXT COLLATE "C" NOT NULL,
  status BIGINT NOT NULL,
  body TEXT COLLATE "C" NOT NULL,
  is_sealed SMALLINT NOT NULL,
  created_at BIGINT NOT NULL
);

CREATE INDEX idempotency_keys_created_at ON idempotency_keys (created_at);

CREATE TABLE rate_book (
  id BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
  pairs TEXT COLLATE "C" NOT NULL,
  updated_at BIGINT NOT NULL
);

CREATE TABLE server_probes (
  server TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  checked_at BIGINT NOT NULL,
  report TEXT COLLATE "C" NOT NULL,
  settings TEXT COLLATE "C",
  ended_at BIGINT
);

CREATE TABLE users (
  id TEXT COLLATE "C" PRIMARY KEY,
  email TEXT COLLATE "C" NOT NULL,
  name TEXT COLLATE "C" NOT NULL,
  password_hash TEXT COLLATE "C" NOT NULL,
  created_at BIGINT NOT NULL
);

CREATE UNIQUE INDEX users_email ON users (email);

CREATE TABLE organizations (
  id TEXT COLLATE "C" PRIMARY KEY,
  name TEXT COLLATE "C" NOT NULL,
  display_name TEXT COLLATE "C" NOT NULL,
  is_platform SMALLINT NOT NULL,
  status TEXT COLLATE "C" NOT NULL,
  verification_status TEXT COLLATE "C" NOT NULL,
  legal_name TEXT COLLATE "C",
  registration_number TEXT COLLATE "C",
  country TEXT COLLATE "C",
  address TEXT COLLATE "C",
  website TEXT COLLATE "C",
  contact_email TEXT COLLATE "C",
  business_description TEXT COLLATE "C",
  review_note TEXT COLLATE "C",
  kyb_submitted_at BIGINT,
  reviewed_at BIGINT,
  late_payments TEXT COLLATE "C" NOT NULL CHECK (late_payments IN ('accept', 'review')),
  version BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  late_window_days BIGINT NOT NULL DEFAULT 7,
  pending_display_name TEXT COLLATE "C",
  accent_color TEXT COLLATE "C",
  logo TEXT COLLATE "C",
  pending_logo TEXT COLLATE "C",
  allowed_origins TEXT COLLATE "C" NOT NULL DEFAULT '[]',
  payment_options TEXT COLLATE "C"
);

CREATE UNIQUE INDEX organizations_platform ON organizations (is_platform) WHERE is_platform = 1;

CREATE INDEX organizations_verification ON organizations (verification_status, id);

CREATE INDEX organizations_late_review ON organizations (id) WHERE late_payments = 'review';

CREATE TABLE memberships (
  id TEXT COLLATE "C" PRIMARY KEY,
  user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id),
  organization_id TEXT COLLATE "C" NOT NULL REFERENCES organizations (id),
  role TEXT COLLATE "C" NOT NULL,
  created_at BIGINT NOT NULL
);

CREATE UNIQUE INDEX memberships_user ON memberships (user_id, organization_id);

CREATE INDEX memberships_organization ON memberships (organization_id, id);

CREATE TABLE invitations (
  id TEXT COLLATE "C" PRIMARY KEY,
  organization_id TEXT COLLATE "C" NOT NULL REFERENCES organizations (id),
  email TEXT COLLATE "C" NOT NULL,
  role TEXT COLLATE "C" NOT NULL,
  token_hash TEXT COLLATE "C" NOT NULL,
  invited_by TEXT COLLATE "C",
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  accepted_at BIGINT,
  revoked_at BIGINT
);

CREATE UNIQUE INDEX invitations_token ON invitations (token_hash);

CREATE INDEX invitations_expiry ON invitations (expires_at);

CREATE INDEX invitations_organization ON invitations (organization_id, id);

CREATE INDEX invitations_open ON invitations (organization_id, email) WHERE accepted_at IS NULL AND revoked_at IS NULL;

CREATE TABLE organization_reviews (
  id TEXT COLLATE "C" PRIMARY KEY,
  organization_id TEXT COLLATE "C" NOT NULL REFERENCES organizations (id),
  decision TEXT COLLATE "C" NOT NULL,
  from_status TEXT COLLATE "C" NOT NULL,
  to_status TEXT COLLATE "C" NOT NULL,
  note TEXT COLLATE "C",
  reviewer_id TEXT COLLATE "C",
  reviewer_email TEXT COLLATE "C",
  created_at BIGINT NOT NULL
);

CREATE INDEX organization_reviews_organization ON organization_reviews (organization_id, id);

CREATE TABLE sessions (
  id TEXT COLLATE "C" PRIMARY KEY,
  user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id),
  created_at BIGINT NOT NULL,
  revoked_at BIGINT
);

CREATE INDEX sessions_user ON sessions (user_id, id);

CREATE TABLE refresh_tokens (
  token_hash TEXT COLLATE "C" PRIMARY KEY,
  session_id TEXT COLLATE "C" NOT NULL REFERENCES sessions (id),
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  used_at BIGINT
);

CREATE INDEX refresh_tokens_session ON refresh_tokens (session_id);

CREATE INDEX refresh_tokens_expiry ON refresh_tokens (expires_at);

CREATE TABLE password_resets (
  token_hash TEXT COLLATE "C" PRIMARY KEY,
  user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id),
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  used_at BIGINT
);

CREATE INDEX password_resets_user ON password_resets (user_id);

CREATE INDEX password_resets_expiry ON password_resets (expires_at);

CREATE TABLE api_keys (
  id TEXT COLLATE "C" PRIMARY KEY,
  organization_id TEXT COLLATE "C" NOT NULL REFERENCES organizations (id),
  name TEXT COLLATE "C" NOT NULL,
  prefix TEXT COLLATE "C" NOT NULL,
  secret_hash TEXT COLLATE "C" NOT NULL,
  scopes TEXT COLLATE "C" NOT NULL,
  created_by TEXT COLLATE "C",
  created_at BIGINT NOT NULL,
  last_used_at BIGINT,
  expires_at BIGINT,
  revoked_at BIGINT
);

CREATE UNIQUE INDEX api_keys_secret ON api_keys (secret_hash);

CREATE INDEX api_keys_organization ON api_keys (organization_id, id);

CREATE TABLE sandbox_chain (
  id BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
  generation BIGINT NOT NULL,
  next_log_index BIGINT NOT NULL,
  stalled_until BIGINT NOT NULL,
  refused_until BIGINT NOT NULL,
  silent_until BIGINT NOT NULL,
  contrary_until BIGINT NOT NULL
);

CREATE TABLE sandbox_segments (
  from_height BIGINT NOT NULL PRIMARY KEY,
  last_height BIGINT,
  time BIGINT NOT NULL,
  step_ms BIGINT NOT NULL,
  CHECK (last_height IS NOT NULL OR step_ms > 0)
);

CREATE TABLE sandbox_forks (
  from_height BIGINT NOT NULL PRIMARY KEY,
  salt TEXT COLLATE "C" NOT NULL
);

CREATE TABLE sandbox_transfers (
  transaction_hash TEXT COLLATE "C" NOT NULL,
  block_height BIGINT NOT NULL,
  log_index BIGINT NOT NULL,
  contract TEXT COLLATE "C" NOT NULL,
  sender TEXT COLLATE "C" NOT NULL,
  recipient TEXT COLLATE "C" NOT NULL,
  amount TEXT COLLATE "C" CHECK (amount ~ '^[0-9]{78}$') NOT NULL,
  is_failed SMALLINT NOT NULL,
  is_lie SMALLINT NOT NULL,
  PRIMARY KEY (transaction_hash, log_index)
);

CREATE INDEX sandbox_transfers_block ON sandbox_transfers (block_height, log_index);

CREATE TABLE wallets (
  id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  organization_id TEXT COLLATE "C" NOT NULL REFERENCES organizations (id),
  label TEXT COLLATE "C" NOT NULL,
  network TEXT COLLATE "C" NOT NULL,
  family TEXT COLLATE "C" NOT NULL,
  kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('address', 'xpub')),
  identity TEXT COLLATE "C" NOT NULL,
  address TEXT COLLATE "C",
  xpub TEXT COLLATE "C",
  shown_address TEXT COLLATE "C" NOT NULL,
  status TEXT COLLATE "C" NOT NULL CHECK (status IN ('active', 'archived')),
  created_at BIGINT NOT NULL,
  archived_at BIGINT
);

CREATE INDEX wallets_organization ON wallets (organization_id, id);

CREATE UNIQUE INDEX wallets_active ON wallets (network, identity) WHERE status = 'active';

CREATE INDEX wallets_receiving ON wallets (organization_id, network, id) WHERE status = 'active';

CREATE TABLE wallet_claims (
  family TEXT COLLATE "C" NOT NULL,
  identity TEXT COLLATE "C" NOT NULL,
  organization_id TEXT COLLATE "C" NOT NULL REFERENCES organizations (id),
  kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('address', 'xpub', 'derived', 'released')),
  next_index BIGINT NOT NULL,
  highest_paid_index BIGINT,
  PRIMARY KEY (family, identity)
);

CREATE TABLE invoices (
  id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  organization_id TEXT COLLATE "C" NOT NULL,
  public_id TEXT COLLATE "C" NOT NULL,
  checkout_id TEXT COLLATE "C",
  status TEXT COLLATE "C" NOT NULL CHECK (status IN ('draft', 'open', 'partially_paid', 'confirming', 'paid', 'expired', 'canceled')),
  exception TEXT COLLATE "C" NOT NULL CHECK (exception IN ('none', 'underpaid', 'overpaid', 'late', 'reverted')),
  version BIGINT NOT NULL,
  amount TEXT COLLATE "C" CHECK (amount ~ '^[0-9]{78}$') NOT NULL,
  settlement_currency TEXT COLLATE "C" NOT NULL,
  settlement_decimals BIGINT NOT NULL,
  token_symbol TEXT COLLATE "C" NOT NULL,
  token_decimals BIGINT NOT NULL,
  network TEXT COLLATE "C" NOT NULL,
  required_confirmations BIGINT NOT NULL,
  payable_amount TEXT COLLATE "C" CHECK (payable_amount ~ '^[0-9]{78}$'),
  remaining_amount TEXT COLLATE "C" CHECK (remaining_amount ~ '^[0-9]{78}$'),
  exchange_rate TEXT COLLATE "C",
  underpayment_tolerance TEXT COLLATE "C" NOT NULL,
  wallet_id TEXT COLLATE "C",
  wallet_address TEXT COLLATE "C",
  address_index BIGINT,
  customer_id TEXT COLLATE "C",
  external_id TEXT COLLATE "C",
  request_fingerprint TEXT COLLATE "C",
  description TEXT COLLATE "C",
  redirect_url TEXT COLLATE "C",
  expires_in_seconds BIGINT NOT NULL,
  managed_by TEXT COLLATE "C" CHECK (managed_by IN ('billing')),
  metadata TEXT COLLATE "C" NOT NULL,
  seen_amount TEXT COLLATE "C" CHECK (seen_amount ~ '^[0-9]{78}$') NOT NULL,
  confirmed_amount TEXT COLLATE "C" CHECK (confirmed_amount ~ '^[0-9]{78}$') NOT NULL,
  is_late SMALLINT NOT NULL,
  is_reverted SMALLINT NOT NULL,
  latest_block BIGINT,
  completed_at BIGINT,
  expires_at BIGINT,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  issued_at BIGINT,
  paid_at BIGINT,
  canceled_at BIGINT,
  transaction_hashes TEXT COLLATE "C" NOT NULL DEFAULT '[]',
  asked_amount TEXT COLLATE "C" CHECK (asked_amount ~ '^[0-9]{78}$'),
  payment_options TEXT COLLATE "C",
  paid_amount TEXT COLLATE "C" CHECK (paid_amount ~ '^[0-9]{78}$')
);

CREATE INDEX invoices_organization ON invoices (organization_id, id);

CREATE INDEX invoices_drafts ON invoices (organization_id, id, settlement_currency, settlement_decimals, amount) WHERE status = 'draft';

CREATE INDEX invoices_issued ON invoices (organization_id, issued_at) WHERE issued_at IS NOT NULL;

CREATE UNIQUE INDEX invoices_checkout_id ON invoices (checkout_id) WHERE checkout_id IS NOT NULL;

CREATE UNIQUE INDEX invoices_public_id ON invoices (public_id);

CREATE INDEX invoices_deadline ON invoices (network, expires_at) WHERE status IN ('open', 'partially_paid');

CREATE TABLE holds (
  id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  network TEXT COLLATE "C" NOT NULL,
  address TEXT COLLATE "C" NOT NULL,
  token TEXT COLLATE "C" NOT NULL,
  amount TEXT COLLATE "C" CHECK (amount ~ '^[0-9]{78}$') NOT NULL,
  least_amount TEXT COLLATE "C" CHECK (least_amount ~ '^[0-9]{78}$') NOT NULL,
  invoice_id TEXT COLLATE "C" NOT NULL,
  organization_id TEXT COLLATE "C" NOT NULL,
  kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('exclusive', 'amount')),
  starts_at BIGINT NOT NULL,
  ends_at BIGINT NOT NULL,
  released_at BIGINT,
  recycled_at BIGINT,
  price TEXT COLLATE "C" CHECK (price ~ '^[0-9]{78}$')
);

CREATE UNIQUE INDEX holds_live ON holds (network, address, token, amount) WHERE released_at IS NULL;

CREATE INDEX holds_tolerant ON holds (network, address, token, amount) WHERE released_at IS NULL AND least_amount < amount;

CREATE INDEX holds_invoice ON holds (invoice_id);

CREATE TABLE network_states (
  network TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  chain_id BIGINT NOT NULL,
  cursor_height BIGINT NOT NULL,
  cursor_hash TEXT COLLATE "C" NOT NULL,
  tip_height BIGINT NOT NULL,
  tip_hash TEXT COLLATE "C" NOT NULL,
  tip_time BIGINT NOT NULL,
  head_height BIGINT NOT NULL,
  scanned_at BIGINT NOT NULL,
  disabled_tokens TEXT COLLATE "C" NOT NULL,
  version BIGINT NOT NULL,
  cursor_time BIGINT NOT NULL DEFAULT 0
);

CREATE TABLE network_blocks (
  network TEXT COLLATE "C" NOT NULL,
  height BIGINT NOT NULL,
  hash TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (network, height)
);

CREATE TABLE network_providers (
  network TEXT COLLATE "C" NOT NULL,
  place BIGINT NOT NULL,
  health TEXT COLLATE "C" NOT NULL,
  written_at BIGINT NOT NULL,
  PRIMARY KEY (network, place)
);

CREATE TABLE network_alarms (
  network TEXT COLLATE "C" NOT NULL,
  kind TEXT COLLATE "C" NOT NULL,
  subject TEXT COLLATE "C" NOT NULL,
  message TEXT COLLATE "C" NOT NULL,
  raised_at BIGINT NOT NULL,
  ended_at BIGINT,
  PRIMARY KEY (network, kind, subject)
);

CREATE INDEX network_alarms_open ON network_alarms (network, raised_at) WHERE ended_at IS NULL;

CREATE TABLE transfers (
  id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  network TEXT COLLATE "C" NOT NULL,
  transaction_hash TEXT COLLATE "C" NOT NULL,
  log_index BIGINT NOT NULL,
  block_height BIGINT NOT NULL,
  block_hash TEXT COLLATE "C" NOT NULL,
  block_time BIGINT NOT NULL,
  contract TEXT COLLATE "C" NOT NULL,
  token TEXT COLLATE "C" NOT NULL,
  token_decimals BIGINT NOT NULL,
  from_address TEXT COLLATE "C" NOT NULL,
  to_address TEXT COLLATE "C" NOT NULL,
  amount TEXT COLLATE "C" CHECK (amount ~ '^[0-9]{78}$') NOT NULL,
  status TEXT COLLATE "C" NOT NULL CHECK (status IN ('seen', 'orphaned')),
  is_final SMALLINT NOT NULL,
  organization_id TEXT COLLATE "C",
  invoice_id TEXT COLLATE "C",
  disposition TEXT COLLATE "C" NOT NULL CHECK (disposition IN ('unmatched', 'matched', 'ignored')),
  created_at BIGINT NOT NULL,
  verification TEXT COLLATE "C" NOT NULL DEFAULT 'open'
);

CREATE UNIQUE INDEX transfers_position ON transfers (network, transaction_hash, log_index) WHERE status = 'seen';

CREATE INDEX transfers_revocable ON transfers (network, block_height) WHERE is_final = 0 AND status = 'seen';

CREATE INDEX transfers_organization ON transfers (organization_id, id);

CREATE INDEX transfers_inbox ON transfers (organization_id, disposition, id) WHERE disposition <> 'matched' AND status = 'seen';

CREATE INDEX transfers_reverted ON transfers (organization_id, id) WHERE status = 'orphaned';

CREATE TABLE payments (
  id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  organization_id TEXT COLLATE "C" NOT NULL,
  invoice_id TEXT COLLATE "C" NOT NULL,
  transfer_id TEXT COLLATE "C" NOT NULL REFERENCES transfers (id),
  network TEXT COLLATE "C" NOT NULL,
  token TEXT COLLATE "C" NOT NULL,
  amount TEXT COLLATE "C" CHECK (amount ~ '^[0-9]{78}$') NOT NULL,
  settlement_amount TEXT COLLATE "C" CHECK (settlement_amount ~ '^[0-9]{78}$') NOT NULL,
  settlement_currency TEXT COLLATE "C" NOT NULL,
  settlement_decimals BIGINT NOT NULL,
  token_decimals BIGINT NOT NULL,
  rule TEXT COLLATE "C" NOT NULL,
  source TEXT COLLATE "C" NOT NULL CHECK (source IN ('detected', 'submitted', 'operator')),
  status TEXT COLLATE "C" NOT NULL CHECK (status IN ('confirming', 'confirmed', 'reverted', 'review', 'rejected')),
  status_when_back TEXT COLLATE "C",
  block_height BIGINT NOT NULL,
  block_hash TEXT COLLATE "C" NOT NULL,
  block_time BIGINT NOT NULL,
  required_confirmations BIGINT NOT NULL,
  confirms_at_height BIGINT NOT NULL,
  version BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  confirmed_at BIGINT,
  transaction_hash TEXT COLLATE "C" NOT NULL DEFAULT '',
  refund_requested TEXT COLLATE "C" CHECK (refund_requested ~ '^[0-9]{78}$') NOT NULL DEFAULT '000000000000000000000000000000000000000000000000000000000000000000000000000000',
  refunded TEXT COLLATE "C" CHECK (refunded ~ '^[0-9]{78}$') NOT NULL DEFAULT '000000000000000000000000000000000000000000000000000000000000000000000000000000',
  exchange_rate TEXT COLLATE "C",
  wallet_id TEXT COLLATE "C"
);

CREATE INDEX payments_organization ON payments (organization_id, id);

CREATE INDEX payments_invoice ON payments (invoice_id, id);

CREATE INDEX payments_confirmed ON payments (organization_id, block_time) WHERE status = 'confirmed';

CREATE INDEX payments_confirming ON payments (network, confirms_at_height, id) WHERE status = 'confirming';

CREATE TABLE transfer_decisions (
  id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  organization_id TEXT COLLATE "C" NOT NULL,
  transfer_id TEXT COLLATE "C" NOT NULL REFERENCES transfers (id),
  decision TEXT COLLATE "C" NOT NULL CHECK (decision IN ('allocated', 'accepted', 'rejected', 'reversed', 'ignored', 'restored')),
  payment_id TEXT COLLATE "C",
  invoice_id TEXT COLLATE "C",
  amount TEXT COLLATE "C" CHECK (amount ~ '^[0-9]{78}$') NOT NULL,
  actor_type TEXT COLLATE "C" NOT NULL,
  actor_id TEXT COLLATE "C",
  actor_label TEXT COLLATE "C" NOT NULL,
  created_at BIGINT NOT NULL
);

CREATE INDEX transfer_decisions_transfer ON transfer_decisions (transfer_id, id);

CREATE TABLE payment_claims (
  id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  organization_id TEXT COLLATE "C" NOT NULL,
  invoice_id TEXT COLLATE "C" NOT NULL,
  network TEXT COLLATE "C" NOT NULL,
  transaction_hash TEXT COLLATE "C" NOT NULL,
  state TEXT COLLATE "C" NOT NULL CHECK (state IN ('waiting', 'credited', 'review', 'refused')),
  reason TEXT COLLATE "C",
  attempts BIGINT NOT NULL,
  next_at BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  closed_at BIGINT
);

CREATE UNIQUE INDEX payment_claims_hash ON payment_claims (invoice_id, transaction_hash);

CREATE INDEX payment_claims_organization ON payment_claims (organization_id, id);

CREATE INDEX payment_claims_due ON payment_claims (network, next_at, id) WHERE state = 'waiting';

CREATE TABLE webhook_endpoints (
  id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  organization_id TEXT COLLATE "C" NOT NULL REFERENCES organizations (id),
  url TEXT COLLATE "C" NOT NULL,
  description TEXT COLLATE "C",
  event_types TEXT COLLATE "C" NOT NULL,
  status TEXT COLLATE "C" NOT NULL CHECK (status IN ('enabled', 'disabled')),
  disabled_reason TEXT COLLATE "C",
  secret TEXT COLLATE "C" NOT NULL,
  previous_secret TEXT COLLATE "C",
  previous_secret_until BIGINT,
  failing_since BIGINT,
  failing_notices BIGINT NOT NULL,
  first_given_up_at BIGINT,
  api_version TEXT COLLATE "C" NOT NULL,
  last_sequence BIGINT NOT NULL,
  version BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL
);

CREATE INDEX webhook_endpoints_organization ON webhook_endpoints (organization_id, id);

CREATE INDEX webhook_endpoints_overlap ON webhook_endpoints (previous_secret_until) WHERE previous_secret_until IS NOT NULL;

CREATE TABLE webhook_deliveries (
  id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  organization_id TEXT COLLATE "C" NOT NULL,
  endpoint_id TEXT COLLATE "C" NOT NULL,
  event_id TEXT COLLATE "C" NOT NULL,
  event_type TEXT COLLATE "C" NOT NULL,
  status TEXT COLLATE "C" NOT NULL CHECK (status IN ('pending', 'in_progress', 'succeeded', 'failed', 'dead_letter')),
  sequence BIGINT NOT NULL,
  attempts BIGINT NOT NULL,
  due_at BIGINT,
  last_attempt_at BIGINT,
  lease_token TEXT COLLATE "C",
  response_status BIGINT,
  last_error TEXT COLLATE "C",
  replay_of TEXT COLLATE "C",
  created_at BIGINT NOT NULL,
  completed_at BIGINT,
  body TEXT COLLATE "C" NOT NULL
);

CREATE INDEX webhook_deliveries_organization ON webhook_deliveries (organization_id, id);

CREATE INDEX webhook_deliveries_endpoint ON webhook_deliveries (organization_id, endpoint_id, id);

CREATE INDEX webhook_deliveries_endpoint_status ON webhook_deliveries (organization_id, endpoint_id, status, id);

CREATE INDEX webhook_deliveries_status ON webhook_deliveries (organization_id, status, id);

CREATE INDEX webhook_deliveries_event_type ON webhook_deliveries (organization_id, event_type, id);

CREATE INDEX webhook_deliveries_unusual ON webhook_deliveries (status, id, due_at) WHERE status <> 'succeeded';

CREATE INDEX webhook_deliveries_dead ON webhook_deliveries (completed_at, id) WHERE status = 'dead_letter';

CREATE INDEX webhook_deliveries_due ON webhook_deliveries (endpoint_id, due_at, id) WHERE due_at IS NOT NULL;

CREATE UNIQUE INDEX webhook_deliveries_event ON webhook_deliveries (event_id, endpoint_id) WHERE replay_of IS NULL;

CREATE INDEX webhook_deliveries_replays ON webhook_deliveries (event_id, endpoint_id) WHERE replay_of IS NOT NULL;

CREATE TABLE webhook_attempts (
  delivery_id TEXT COLLATE "C" NOT NULL,
  number BIGINT NOT NULL,
  started_at BIGINT NOT NULL,
  duration_ms BIGINT NOT NULL,
  response_status BIGINT,
  error_kind TEXT COLLATE "C",
  body_excerpt TEXT COLLATE "C",
  PRIMARY KEY (delivery_id, number)
);

CREATE STATISTICS webhook_deliveries_endpoint_and_status (mcv) ON endpoint_id, status FROM webhook_deliveries;

CREATE TABLE customers (
  id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  organization_id TEXT COLLATE "C" NOT NULL REFERENCES organizations (id),
  external_id TEXT COLLATE "C",
  name TEXT COLLATE "C" NOT NULL,
  email TEXT COLLATE "C",
  metadata TEXT COLLATE "C" NOT NULL,
  version BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL
);

CREATE INDEX customers_organization ON customers (organization_id, id);

CREATE UNIQUE INDEX customers_external_id ON customers (organization_id, external_id) WHERE external_id IS NOT NULL;

CREATE INDEX customers_email ON customers (organization_id, email, id) WHERE email IS NOT NULL;

CREATE TABLE figure_changes (
  organization_id TEXT COLLATE "C" NOT NULL,
  id TEXT COLLATE "C" NOT NULL,
  measure TEXT COLLATE "C" NOT NULL,
  happened_at BIGINT NOT NULL,
  currency TEXT COLLATE "C" NOT NULL,
  subject TEXT COLLATE "C" NOT NULL,
  sign BIGINT NOT NULL CHECK (sign IN (1, -1)),
  amount TEXT COLLATE "C" CHECK (amount ~ '^[0-9]{78}$') NOT NULL,
  items BIGINT NOT NULL DEFAULT 1,
  PRIMARY KEY (organization_id, id)
);

CREATE TABLE figures (
  organization_id TEXT COLLATE "C" NOT NULL,
  measure TEXT COLLATE "C" NOT NULL,
  grain TEXT COLLATE "C" NOT NULL CHECK (grain IN ('hour', 'day')),
  starts_at BIGINT NOT NULL,
  currency TEXT COLLATE "C" NOT NULL,
  subject TEXT COLLATE "C" NOT NULL,
  items BIGINT NOT NULL,
  sign BIGINT NOT NULL CHECK (sign IN (1, -1)),
  amount TEXT COLLATE "C" CHECK (amount ~ '^[0-9]{78}$') NOT NULL,
  PRIMARY KEY (organization_id, measure, grain, starts_at, currency, subject)
);

CREATE TABLE subscriptions (
  id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  organization_id TEXT COLLATE "C" NOT NULL REFERENCES organizations (id),
  status TEXT COLLATE "C" NOT NULL CHECK (status IN ('trialing', 'active', 'past_due', 'suspended', 'canceled')),
  status_reason TEXT COLLATE "C",
  terms TEXT COLLATE "C" NOT NULL,
  pending_plan TEXT COLLATE "C",
  plan_change_effective_at BIGINT,
  anchor_at BIGINT NOT NULL,
  period_index BIGINT NOT NULL,
  current_period_start BIGINT NOT NULL,
  current_period_end BIGINT NOT NULL,
  trial_ends_at BIGINT,
  trial_notice_at BIGINT,
  had_trial SMALLINT NOT NULL,
  usage_notice BIGINT NOT NULL,
  suspended_at BIGINT,
  canceled_at BIGINT,
  cancel_at BIGINT,
  next_action_at BIGINT,
  parked_at BIGINT,
  park_reason TEXT COLLATE "C",
  parked_until BIGINT,
  park_count BIGINT NOT NULL,
  version BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  pending_terms TEXT COLLATE "C",
  issued_from BIGINT,
  issued_count BIGINT NOT NULL DEFAULT 0
);

CREATE INDEX subscriptions_organization ON subscriptions (organization_id, id);

CREATE UNIQUE INDEX subscriptions_live ON subscriptions (organization_id) WHERE status <> 'canceled';

CREATE INDEX subscriptions_status ON subscriptions (status, id);

CREATE INDEX subscriptions_due ON subscriptions (next_action_at) WHERE next_action_at IS NOT NULL;

CREATE TABLE platform_invoices (
  id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  number TEXT COLLATE "C" NOT NULL,
  organization_id TEXT COLLATE "C" NOT NULL REFERENCES organizations (id),
  subscription_id TEXT COLLATE "C" NOT NULL REFERENCES subscriptions (id),
  status TEXT COLLATE "C" NOT NULL CHECK (status IN ('open', 'paid', 'past_due', 'void')),
  period_start BIGINT NOT NULL,
  period_end BIGINT NOT NULL,
  currency TEXT COLLATE "C" NOT NULL,
  decimals BIGINT NOT NULL,
  subtotal TEXT COLLATE "C" CHECK (subtotal ~ '^[-0][0-9]{78}$') NOT NULL,
  discount_total TEXT COLLATE "C" CHECK (discount_total ~ '^[0-9]{78}$') NOT NULL,
  credit_total TEXT COLLATE "C" CHECK (credit_total ~ '^[-0][0-9]{78}$') NOT NULL,
  total TEXT COLLATE "C" CHECK (total ~ '^[0-9]{78}$') NOT NULL,
  inputs TEXT COLLATE "C" NOT NULL,
  usage_from BIGINT,
  usage_to BIGINT,
  usage_count BIGINT,
  paid_surplus TEXT COLLATE "C" CHECK (paid_surplus ~ '^[0-9]{78}$') NOT NULL,
  issued_at BIGINT NOT NULL,
  due_at BIGINT NOT NULL,
  past_due_at BIGINT,
  dunning_from BIGINT,
  paid_at BIGINT,
  voided_at BIGINT,
  reminders_sent BIGINT NOT NULL,
  twin_id TEXT COLLATE "C",
  twin_public_id TEXT COLLATE "C",
  twin_checkout_id TEXT COLLATE "C",
  version BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL
);

CREATE UNIQUE INDEX platform_invoices_number ON platform_invoices (number);

CREATE UNIQUE INDEX platform_invoices_period ON platform_invoices (subscription_id, period_start) WHERE status <> 'void';

CREATE INDEX platform_invoices_organization ON platform_invoices (organization_id, id);

CREATE INDEX platform_invoices_organization_status ON platform_invoices (organization_id, status, id);

CREATE INDEX platform_invoices_status ON platform_invoices (status, id);

CREATE INDEX platform_invoices_unpaid ON platform_invoices (subscription_id, id) WHERE status IN ('open', 'past_due');

CREATE INDEX platform_invoices_twin ON platform_invoices (twin_id) WHERE twin_id IS NOT NULL;

CREATE TABLE platform_invoice_twins (
  twin_id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  platform_invoice_id TEXT COLLATE "C" NOT NULL REFERENCES platform_invoices (id),
  created_at BIGINT NOT NULL
);

CREATE INDEX platform_invoice_twins_invoice ON platform_invoice_twins (platform_invoice_id);

CREATE TABLE platform_invoice_lines (
  id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  platform_invoice_id TEXT COLLATE "C" NOT NULL REFERENCES platform_invoices (id),
  position BIGINT NOT NULL,
  kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('plan', 'usage', 'adjustment', 'discount', 'credit')),
  description TEXT COLLATE "C" NOT NULL,
  quantity BIGINT NOT NULL,
  unit_amount TEXT COLLATE "C" CHECK (unit_amount ~ '^[-0][0-9]{78}$') NOT NULL,
  amount TEXT COLLATE "C" CHECK (amount ~ '^[-0][0-9]{78}$') NOT NULL,
  source_id TEXT COLLATE "C"
);

CREATE UNIQUE INDEX platform_invoice_lines_position ON platform_invoice_lines (platform_invoice_id, position);

CREATE FUNCTION platform_invoice_lines_refuse_change() RETURNS trigger LANGUAGE plpgsql AS
  'BEGIN RAISE EXCEPTION ''rows of platform_invoice_lines are never changed''; END';

CREATE TRIGGER platform_invoice_lines_no_change BEFORE UPDATE OR DELETE ON platform_invoice_lines
  FOR EACH ROW EXECUTE FUNCTION platform_invoice_lines_refuse_change();

CREATE TABLE credits (
  id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  organization_id TEXT COLLATE "C" NOT NULL REFERENCES organizations (id),
  amount TEXT COLLATE "C" CHECK (amount ~ '^[0-9]{78}$') NOT NULL,
  remaining TEXT COLLATE "C" CHECK (remaining ~ '^[0-9]{78}$') NOT NULL,
  currency TEXT COLLATE "C" NOT NULL,
  decimals BIGINT NOT NULL,
  reason TEXT COLLATE "C" NOT NULL,
  expires_at BIGINT,
  created_by TEXT COLLATE "C" NOT NULL,
  source_invoice_id TEXT COLLATE "C",
  created_at BIGINT NOT NULL,
  version BIGINT NOT NULL,
  CHECK (remaining <= amount)
);

CREATE INDEX credits_organization ON credits (organization_id, id);

CREATE INDEX credits_remaining ON credits (organization_id, currency, remaining);

CREATE INDEX credits_source ON credits (source_invoice_id, id) WHERE source_invoice_id IS NOT NULL;

CREATE TABLE credit_applications (
  credit_id TEXT COLLATE "C" NOT NULL REFERENCES credits (id),
  platform_invoice_id TEXT COLLATE "C" NOT NULL REFERENCES platform_invoices (id),
  amount TEXT COLLATE "C" CHECK (amount ~ '^[0-9]{78}$') NOT NULL,
  reversed_at BIGINT,
  PRIMARY KEY (credit_id, platform_invoice_id)
);

CREATE INDEX credit_applications_invoice ON credit_applications (platform_invoice_id);

CREATE TABLE discounts (
  id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  organization_id TEXT COLLATE "C" NOT NULL REFERENCES organizations (id),
  kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('percent', 'fixed')),
  value TEXT COLLATE "C" NOT NULL,
  currency TEXT COLLATE "C",
  decimals BIGINT,
  periods BIGINT,
  periods_used BIGINT NOT NULL,
  reason TEXT COLLATE "C" NOT NULL,
  created_by TEXT COLLATE "C" NOT NULL,
  created_at BIGINT NOT NULL,
  CHECK (periods_used >= 0 AND (periods IS NULL OR periods_used <= periods))
);

CREATE INDEX discounts_organization ON discounts (organization_id, id);

CREATE TABLE discount_uses (
  discount_id TEXT COLLATE "C" NOT NULL REFERENCES discounts (id),
  platform_invoice_id TEXT COLLATE "C" NOT NULL REFERENCES platform_invoices (id),
  amount TEXT COLLATE "C" CHECK (amount ~ '^[0-9]{78}$') NOT NULL,
  reversed_at BIGINT,
  PRIMARY KEY (discount_id, platform_invoice_id)
);

CREATE INDEX discount_uses_invoice ON discount_uses (platform_invoice_id);

CREATE TABLE adjustments (
  id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  organization_id TEXT COLLATE "C" NOT NULL REFERENCES organizations (id),
  amount TEXT COLLATE "C" CHECK (amount ~ '^[-0][0-9]{78}$') NOT NULL,
  currency TEXT COLLATE "C" NOT NULL,
  decimals BIGINT NOT NULL,
  description TEXT COLLATE "C" NOT NULL,
  status TEXT COLLATE "C" NOT NULL CHECK (status IN ('pending', 'invoiced')),
  platform_invoice_id TEXT COLLATE "C",
  created_by TEXT COLLATE "C" NOT NULL,
  created_at BIGINT NOT NULL
);

CREATE INDEX adjustments_organization ON adjustments (organization_id, id);

CREATE INDEX adjustments_pending ON adjustments (organization_id, currency, id) WHERE status = 'pending';

CREATE INDEX adjustments_invoice ON adjustments (platform_invoice_id) WHERE platform_invoice_id IS NOT NULL;

CREATE TABLE billing_state (
  id TEXT COLLATE "C" NOT NULL PRIMARY KEY CHECK (id = 'billing'),
  next_number BIGINT NOT NULL,
  receive_wallet_id TEXT COLLATE "C",
  receive_token TEXT COLLATE "C",
  receive_set_at BIGINT,
  heartbeat_at BIGINT,
  version BIGINT NOT NULL
);

INSERT INTO billing_state (id, next_number, version) VALUES ('billing', 1, 1);

CREATE TABLE invoice_terms (
  organization_id TEXT COLLATE "C" NOT NULL,
  term TEXT COLLATE "C" NOT NULL,
  invoice_id TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (organization_id, term, invoice_id)
);

CREATE TABLE customer_terms (
  organization_id TEXT COLLATE "C" NOT NULL,
  term TEXT COLLATE "C" NOT NULL,
  customer_id TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (organization_id, term, customer_id)
);

CREATE INDEX invoices_facet ON invoices (organization_id, (status || ' ' || network || ' ' || token_symbol || ' ' || settlement_currency || ' ' || coalesce(wallet_id, '')), id);

CREATE INDEX invoices_customer ON invoices (organization_id, customer_id, (status || ' ' || network || ' ' || token_symbol || ' ' || settlement_currency || ' ' || coalesce(wallet_id, '')), id) WHERE customer_id IS NOT NULL;

CREATE INDEX invoices_paid ON invoices (organization_id, (status || ' ' || network || ' ' || token_symbol || ' ' || settlement_currency || ' ' || coalesce(wallet_id, '')), paid_at, id) WHERE paid_at IS NOT NULL;

CREATE INDEX invoices_amount ON invoices (organization_id, (status || ' ' || network || ' ' || token_symbol || ' ' || settlement_currency || ' ' || coalesce(wallet_id, '')), amount, id);

CREATE INDEX invoices_own_address ON invoices (organization_id, wallet_address) WHERE address_index IS NOT NULL;

CREATE UNIQUE INDEX invoices_external_id ON invoices (organization_id, lower(external_id), external_id) WHERE external_id IS NOT NULL;

CREATE INDEX payments_facet ON payments (organization_id, (status || ' ' || network || ' ' || token), id);

CREATE INDEX payments_platform_facet ON payments ((status || ' ' || network || ' ' || token), id);

CREATE UNIQUE INDEX payments_transfer ON payments (transfer_id, invoice_id, (case when status = 'rejected' then id else '' end));

CREATE INDEX transfers_transaction ON transfers (transaction_hash, network);

CREATE INDEX payments_block_time ON payments (organization_id, (status || ' ' || network || ' ' || token), block_time, id);

CREATE INDEX payments_amount ON payments (organization_id, (status || ' ' || network || ' ' || token), amount, id);

CREATE INDEX transfers_sender ON transfers (from_address, organization_id, id);

CREATE INDEX invoices_expired ON invoices (network, expires_at) WHERE status = 'expired';

CREATE INDEX holds_recycled ON holds (network, address, token, amount) WHERE recycled_at IS NOT NULL;

CREATE TABLE network_readings (
  network TEXT COLLATE "C" NOT NULL,
  from_height BIGINT NOT NULL,
  parent_hash TEXT COLLATE "C",
  to_height BIGINT NOT NULL,
  to_hash TEXT COLLATE "C" NOT NULL,
  readings TEXT COLLATE "C" NOT NULL,
  opened_at BIGINT NOT NULL,
  PRIMARY KEY (network, from_height)
);

CREATE TABLE half_full_bands (
  network TEXT COLLATE "C" NOT NULL,
  address TEXT COLLATE "C" NOT NULL,
  token TEXT COLLATE "C" NOT NULL,
  price TEXT COLLATE "C" CHECK (price ~ '^[0-9]{78}$') NOT NULL,
  most TEXT COLLATE "C" CHECK (most ~ '^[0-9]{78}$') NOT NULL,
  places BIGINT NOT NULL,
  organization_id TEXT COLLATE "C" NOT NULL,
  warned_at BIGINT NOT NULL,
  PRIMARY KEY (network, address, token, price)
);

CREATE INDEX events_audit_heads ON events (id) WHERE type = 'audit.head';

CREATE TABLE organization_logos (
  name TEXT COLLATE "C" NOT NULL,
  organization_id TEXT COLLATE "C" NOT NULL REFERENCES organizations (id),
  image TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (name, organization_id)
);

CREATE INDEX organization_logos_organization ON organization_logos (organization_id);

CREATE INDEX holds_ending ON holds (network, ends_at) WHERE released_at IS NULL AND ends_at IS NOT NULL;

CREATE TABLE refunds (
  id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  organization_id TEXT COLLATE "C" NOT NULL REFERENCES organizations (id),
  invoice_id TEXT COLLATE "C" NOT NULL REFERENCES invoices (id),
  payment_id TEXT COLLATE "C" NOT NULL REFERENCES payments (id),
  source TEXT COLLATE "C" NOT NULL CHECK (source IN ('payer', 'merchant')),
  status TEXT COLLATE "C" NOT NULL CHECK (status IN ('requested', 'sent', 'confirmed', 'rejected')),
  network TEXT COLLATE "C" NOT NULL,
  token TEXT COLLATE "C" NOT NULL,
  token_decimals BIGINT NOT NULL,
  amount TEXT COLLATE "C" CHECK (amount ~ '^[0-9]{78}$') NOT NULL,
  address TEXT COLLATE "C" NOT NULL,
  from_address TEXT COLLATE "C" NOT NULL,
  payment_hash TEXT COLLATE "C" NOT NULL,
  payment_height BIGINT NOT NULL,
  transaction_hash TEXT COLLATE "C",
  block_height BIGINT,
  block_hash TEXT COLLATE "C",
  refusal TEXT COLLATE "C",
  refused_hash TEXT COLLATE "C",
  reason TEXT COLLATE "C",
  attempts BIGINT NOT NULL,
  next_at BIGINT NOT NULL,
  version BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  sent_at BIGINT,
  confirmed_at BIGINT,
  payment_rule TEXT COLLATE "C" NOT NULL DEFAULT '',
  denials BIGINT NOT NULL DEFAULT 0,
  held_attempts BIGINT NOT NULL DEFAULT 0
);

CREATE INDEX refunds_organization ON refunds (organization_id, id);

CREATE INDEX refunds_status ON refunds (organization_id, status, id);

CREATE INDEX refunds_invoice ON refunds (invoice_id, id);

CREATE INDEX refunds_payment ON refunds (payment_id, id);

CREATE UNIQUE INDEX refunds_open ON refunds (payment_id) WHERE status IN ('requested', 'sent');

CREATE UNIQUE INDEX refunds_hash ON refunds (organization_id, network, transaction_hash) WHERE transaction_hash IS NOT NULL;

CREATE INDEX refunds_due ON refunds (network, next_at, id) WHERE status = 'sent';

CREATE INDEX refunds_confirmed ON refunds (network, block_height, id) WHERE status = 'confirmed';

CREATE TABLE payment_links (
  id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  organization_id TEXT COLLATE "C" NOT NULL REFERENCES organizations (id),
  status TEXT COLLATE "C" NOT NULL,
  amount TEXT COLLATE "C",
  min_amount TEXT COLLATE "C",
  max_amount TEXT COLLATE "C",
  terms TEXT COLLATE "C" NOT NULL,
  version BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL
);

CREATE INDEX payment_links_organization ON payment_links (organization_id, id);

CREATE INDEX invoices_partly_paid ON invoices (organization_id, settlement_currency, settlement_decimals, amount, payable_amount, seen_amount, paid_amount) WHERE status = 'partially_paid';

CREATE INDEX invoices_several ON invoices (organization_id, id) WHERE paid_amount IS NOT NULL;

CREATE INDEX invoices_several_paid ON invoices (organization_id, paid_at, id) WHERE paid_amount IS NOT NULL AND paid_at IS NOT NULL;

CREATE INDEX invoices_several_amount ON invoices (organization_id, amount, id) WHERE paid_amount IS NOT NULL;

CREATE INDEX transfers_unverified ON transfers (network, id) WHERE verification = 'open' AND is_final = 1 AND status = 'seen' AND disposition <> 'matched';
