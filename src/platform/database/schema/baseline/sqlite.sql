CREATE TABLE meta (
  name TEXT NOT NULL PRIMARY KEY,
  value TEXT NOT NULL
);

CREATE TABLE leases (
  name TEXT NOT NULL PRIMARY KEY,
  holder TEXT NOT NULL,
  token INTEGER NOT NULL,
  until INTEGER NOT NULL
);

CREATE TABLE cron_runs (
  task TEXT NOT NULL,
  scheduled_at INTEGER NOT NULL,
  PRIMARY KEY (task, scheduled_at)
);

CREATE TABLE jobs (
  id TEXT NOT NULL PRIMARY KEY,
  queue TEXT NOT NULL,
  name TEXT NOT NULL,
  payload TEXT NOT NULL,
  dedupe_key TEXT,
  organization_id TEXT,
  state TEXT NOT NULL CHECK (state IN ('ready', 'failed')),
  run_at INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  max_attempts INTEGER NOT NULL,
  lease_until INTEGER,
  lease_token TEXT,
  failed_reason TEXT,
  failed_at INTEGER,
  created_at INTEGER NOT NULL
);

CREATE INDEX jobs_ready ON jobs (queue, run_at, id) WHERE state = 'ready';

CREATE UNIQUE INDEX jobs_dedupe ON jobs (queue, dedupe_key)
  WHERE state = 'ready' AND dedupe_key IS NOT NULL;

CREATE INDEX jobs_failed ON jobs (queue, failed_at, id) WHERE state = 'failed';

CREATE TABLE events (
  id TEXT NOT NULL PRIMARY KEY,
  organization_id TEXT,
  type TEXT NOT NULL,
  api_version TEXT NOT NULL,
  object_type TEXT NOT NULL,
  object_id TEXT NOT NULL,
  object_version INTEGER NOT NULL,
  payload TEXT NOT NULL,
  occurred_at INTEGER NOT NULL,
  position INTEGER
);

CREATE INDEX events_unpositioned ON events (id) WHERE position IS NULL;

CREATE UNIQUE INDEX events_position ON events (position) WHERE position IS NOT NULL;

CREATE INDEX events_organization ON events (organization_id, position) WHERE position IS NOT NULL;

CREATE TABLE audit_logs (
  id TEXT NOT NULL PRIMARY KEY,
  organization_id TEXT,
  actor_type TEXT NOT NULL,
  actor_id TEXT,
  actor_label TEXT NOT NULL,
  action TEXT NOT NULL,
  target_type TEXT NOT NULL,
  target_id TEXT NOT NULL,
  ip TEXT,
  request_id TEXT,
  changes TEXT NOT NULL,
  position INTEGER,
  hash TEXT,
  created_at INTEGER NOT NULL
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
  claim TEXT NOT NULL PRIMARY KEY,
  fingerprint TEXT NOT NULL,
  status INTEGER NOT NULL,
  body TEXT NOT NULL,
  is_sealed INTEGER NOT NULL,
  created_at INTEGER NOT NULL
);

CREATE INDEX idempotency_keys_created_at ON idempotency_keys (created_at);

CREATE TABLE rate_book (
  id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  pairs TEXT NOT NULL,
  updated_at INTEGER NOT NULL
);

CREATE TABLE server_probes (
  server TEXT NOT NULL PRIMARY KEY,
  checked_at INTEGER NOT NULL,
  report TEXT NOT NULL,
  settings TEXT,
  ended_at INTEGER
);

CREATE TABLE users (
  id TEXT PRIMARY KEY,
  email TEXT NOT NULL,
  name TEXT NOT NULL,
  password_hash TEXT NOT NULL,
  created_at INTEGER NOT NULL
);

CREATE UNIQUE INDEX users_email ON users (email);

CREATE TABLE organizations (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  display_name TEXT NOT NULL,
  is_platform INTEGER NOT NULL,
  status TEXT NOT NULL,
  verification_status TEXT NOT NULL,
  legal_name TEXT,
  registration_number TEXT,
  country TEXT,
  address TEXT,
  website TEXT,
  contact_email TEXT,
  business_description TEXT,
  review_note TEXT,
  kyb_submitted_at INTEGER,
  reviewed_at INTEGER,
  late_payments TEXT NOT NULL CHECK (late_payments IN ('accept', 'review')),
  version INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  late_window_days INTEGER NOT NULL DEFAULT 7,
  pending_display_name TEXT,
  accent_color TEXT,
  logo TEXT,
  pending_logo TEXT,
  allowed_origins TEXT NOT NULL DEFAULT '[]',
  payment_options TEXT
);

CREATE UNIQUE INDEX organizations_platform ON organizations (is_platform) WHERE is_platform = 1;

CREATE INDEX organizations_verification ON organizations (verification_status, id);

CREATE INDEX organizations_late_review ON organizations (id) WHERE late_payments = 'review';

CREATE TABLE memberships (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id),
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  role TEXT NOT NULL,
  created_at INTEGER NOT NULL
);

CREATE UNIQUE INDEX memberships_user ON memberships (user_id, organization_id);

CREATE INDEX memberships_organization ON memberships (organization_id, id);

CREATE TABLE invitations (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  email TEXT NOT NULL,
  role TEXT NOT NULL,
  token_hash TEXT NOT NULL,
  invited_by TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  accepted_at INTEGER,
  revoked_at INTEGER
);

CREATE UNIQUE INDEX invitations_token ON invitations (token_hash);

CREATE INDEX invitations_expiry ON invitations (expires_at);

CREATE INDEX invitations_organization ON invitations (organization_id, id);

CREATE INDEX invitations_open ON invitations (organization_id, email) WHERE accepted_at IS NULL AND revoked_at IS NULL;

CREATE TABLE organization_reviews (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  decision TEXT NOT NULL,
  from_status TEXT NOT NULL,
  to_status TEXT NOT NULL,
  note TEXT,
  reviewer_id TEXT,
  reviewer_email TEXT,
  created_at INTEGER NOT NULL
);

CREATE INDEX organization_reviews_organization ON organization_reviews (organization_id, id);

CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id),
  created_at INTEGER NOT NULL,
  revoked_at INTEGER
);

CREATE INDEX sessions_user ON sessions (user_id, id);

CREATE TABLE refresh_tokens (
  token_hash TEXT PRIMARY KEY,
  session_id TEXT NOT NULL REFERENCES sessions (id),
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  used_at INTEGER
);

CREATE INDEX refresh_tokens_session ON refresh_tokens (session_id);

CREATE INDEX refresh_tokens_expiry ON refresh_tokens (expires_at);

CREATE TABLE password_resets (
  token_hash TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id),
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  used_at INTEGER
);

CREATE INDEX password_resets_user ON password_resets (user_id);

CREATE INDEX password_resets_expiry ON password_resets (expires_at);

CREATE TABLE api_keys (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  name TEXT NOT NULL,
  prefix TEXT NOT NULL,
  secret_hash TEXT NOT NULL,
  scopes TEXT NOT NULL,
  created_by TEXT,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER,
  expires_at INTEGER,
  revoked_at INTEGER
);

CREATE UNIQUE INDEX api_keys_secret ON api_keys (secret_hash);

CREATE INDEX api_keys_organization ON api_keys (organization_id, id);

CREATE TABLE sandbox_chain (
  id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  generation INTEGER NOT NULL,
  next_log_index INTEGER NOT NULL,
  stalled_until INTEGER NOT NULL,
  refused_until INTEGER NOT NULL,
  silent_until INTEGER NOT NULL,
  contrary_until INTEGER NOT NULL
);

CREATE TABLE sandbox_segments (
  from_height INTEGER NOT NULL PRIMARY KEY,
  last_height INTEGER,
  time INTEGER NOT NULL,
  step_ms INTEGER NOT NULL,
  CHECK (last_height IS NOT NULL OR step_ms > 0)
);

CREATE TABLE sandbox_forks (
  from_height INTEGER NOT NULL PRIMARY KEY,
  salt TEXT NOT NULL
);

CREATE TABLE sandbox_transfers (
  transaction_hash TEXT NOT NULL,
  block_height INTEGER NOT NULL,
  log_index INTEGER NOT NULL,
  contract TEXT NOT NULL,
  sender TEXT NOT NULL,
  recipient TEXT NOT NULL,
  amount TEXT CHECK (length(amount) = 78 AND amount NOT GLOB '*[^0-9]*') NOT NULL,
  is_failed INTEGER NOT NULL,
  is_lie INTEGER NOT NULL,
  PRIMARY KEY (transaction_hash, log_index)
);

CREATE INDEX sandbox_transfers_block ON sandbox_transfers (block_height, log_index);

CREATE TABLE wallets (
  id TEXT NOT NULL PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  label TEXT NOT NULL,
  network TEXT NOT NULL,
  family TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('address', 'xpub')),
  identity TEXT NOT NULL,
  address TEXT,
  xpub TEXT,
  shown_address TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('active', 'archived')),
  created_at INTEGER NOT NULL,
  archived_at INTEGER
);

CREATE INDEX wallets_organization ON wallets (organization_id, id);

CREATE UNIQUE INDEX wallets_active ON wallets (network, identity) WHERE status = 'active';

CREATE INDEX wallets_receiving ON wallets (organization_id, network, id) WHERE status = 'active';

CREATE TABLE wallet_claims (
  family TEXT NOT NULL,
  identity TEXT NOT NULL,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  kind TEXT NOT NULL CHECK (kind IN ('address', 'xpub', 'derived', 'released')),
  next_index INTEGER NOT NULL,
  highest_paid_index INTEGER,
  PRIMARY KEY (family, identity)
);

CREATE TABLE invoices (
  id TEXT NOT NULL PRIMARY KEY,
  organization_id TEXT NOT NULL,
  public_id TEXT NOT NULL,
  checkout_id TEXT,
  status TEXT NOT NULL CHECK (status IN ('draft', 'open', 'partially_paid', 'confirming', 'paid', 'expired', 'canceled')),
  exception TEXT NOT NULL CHECK (exception IN ('none', 'underpaid', 'overpaid', 'late', 'reverted')),
  version INTEGER NOT NULL,
  amount TEXT CHECK (length(amount) = 78 AND amount NOT GLOB '*[^0-9]*') NOT NULL,
  settlement_currency TEXT NOT NULL,
  settlement_decimals INTEGER NOT NULL,
  token_symbol TEXT NOT NULL,
  token_decimals INTEGER NOT NULL,
  network TEXT NOT NULL,
  required_confirmations INTEGER NOT NULL,
  payable_amount TEXT CHECK (length(payable_amount) = 78 AND payable_amount NOT GLOB '*[^0-9]*'),
  remaining_amount TEXT CHECK (length(remaining_amount) = 78 AND remaining_amount NOT GLOB '*[^0-9]*'),
  exchange_rate TEXT,
  underpayment_tolerance TEXT NOT NULL,
  wallet_id TEXT,
  wallet_address TEXT,
  address_index INTEGER,
  customer_id TEXT,
  external_id TEXT,
  request_fingerprint TEXT,
  description TEXT,
  redirect_url TEXT,
  expires_in_seconds INTEGER NOT NULL,
  managed_by TEXT CHECK (managed_by IN ('billing')),
  metadata TEXT NOT NULL,
  seen_amount TEXT CHECK (length(seen_amount) = 78 AND seen_amount NOT GLOB '*[^0-9]*') NOT NULL,
  confirmed_amount TEXT CHECK (length(confirmed_amount) = 78 AND confirmed_amount NOT GLOB '*[^0-9]*') NOT NULL,
  is_late INTEGER NOT NULL,
  is_reverted INTEGER NOT NULL,
  latest_block INTEGER,
  completed_at INTEGER,
  expires_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  issued_at INTEGER,
  paid_at INTEGER,
  canceled_at INTEGER,
  transaction_hashes TEXT NOT NULL DEFAULT '[]',
  asked_amount TEXT CHECK (length(asked_amount) = 78 AND asked_amount NOT GLOB '*[^0-9]*'),
  payment_options TEXT,
  paid_amount TEXT CHECK (length(paid_amount) = 78 AND paid_amount NOT GLOB '*[^0-9]*')
);

CREATE INDEX invoices_organization ON invoices (organization_id, id);

CREATE INDEX invoices_drafts ON invoices (organization_id, id, settlement_currency, settlement_decimals, amount) WHERE status = 'draft';

CREATE INDEX invoices_issued ON invoices (organization_id, issued_at) WHERE issued_at IS NOT NULL;

CREATE UNIQUE INDEX invoices_checkout_id ON invoices (checkout_id) WHERE checkout_id IS NOT NULL;

CREATE UNIQUE INDEX invoices_public_id ON invoices (public_id);

CREATE INDEX invoices_deadline ON invoices (network, expires_at) WHERE status IN ('open', 'partially_paid');

CREATE TABLE holds (
  id TEXT NOT NULL PRIMARY KEY,
  network TEXT NOT NULL,
  address TEXT NOT NULL,
  token TEXT NOT NULL,
  amount TEXT CHECK (length(amount) = 78 AND amount NOT GLOB '*[^0-9]*') NOT NULL,
  least_amount TEXT CHECK (length(least_amount) = 78 AND least_amount NOT GLOB '*[^0-9]*') NOT NULL,
  invoice_id TEXT NOT NULL,
  organization_id TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('exclusive', 'amount')),
  starts_at INTEGER NOT NULL,
  ends_at INTEGER NOT NULL,
  released_at INTEGER,
  recycled_at INTEGER,
  price TEXT CHECK (length(price) = 78 AND price NOT GLOB '*[^0-9]*')
);

CREATE UNIQUE INDEX holds_live ON holds (network, address, token, amount) WHERE released_at IS NULL;

CREATE INDEX holds_tolerant ON holds (network, address, token, amount) WHERE released_at IS NULL AND least_amount < amount;

CREATE INDEX holds_invoice ON holds (invoice_id);

CREATE TABLE network_states (
  network TEXT NOT NULL PRIMARY KEY,
  chain_id INTEGER NOT NULL,
  cursor_height INTEGER NOT NULL,
  cursor_hash TEXT NOT NULL,
  tip_height INTEGER NOT NULL,
  tip_hash TEXT NOT NULL,
  tip_time INTEGER NOT NULL,
  head_height INTEGER NOT NULL,
  scanned_at INTEGER NOT NULL,
  disabled_tokens TEXT NOT NULL,
  version INTEGER NOT NULL,
  cursor_time INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE network_blocks (
  network TEXT NOT NULL,
  height INTEGER NOT NULL,
  hash TEXT NOT NULL,
  PRIMARY KEY (network, height)
);

CREATE TABLE network_providers (
  network TEXT NOT NULL,
  place INTEGER NOT NULL,
  health TEXT NOT NULL,
  written_at INTEGER NOT NULL,
  PRIMARY KEY (network, place)
);

CREATE TABLE network_alarms (
  network TEXT NOT NULL,
  kind TEXT NOT NULL,
  subject TEXT NOT NULL,
  message TEXT NOT NULL,
  raised_at INTEGER NOT NULL,
  ended_at INTEGER,
  PRIMARY KEY (network, kind, subject)
);

CREATE INDEX network_alarms_open ON network_alarms (network, raised_at) WHERE ended_at IS NULL;

CREATE TABLE transfers (
  id TEXT NOT NULL PRIMARY KEY,
  network TEXT NOT NULL,
  transaction_hash TEXT NOT NULL,
  log_index INTEGER NOT NULL,
  block_height INTEGER NOT NULL,
  block_hash TEXT NOT NULL,
  block_time INTEGER NOT NULL,
  contract TEXT NOT NULL,
  token TEXT NOT NULL,
  token_decimals INTEGER NOT NULL,
  from_address TEXT NOT NULL,
  to_address TEXT NOT NULL,
  amount TEXT CHECK (length(amount) = 78 AND amount NOT GLOB '*[^0-9]*') NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('seen', 'orphaned')),
  is_final INTEGER NOT NULL,
  organization_id TEXT,
  invoice_id TEXT,
  disposition TEXT NOT NULL CHECK (disposition IN ('unmatched', 'matched', 'ignored')),
  created_at INTEGER NOT NULL,
  verification TEXT NOT NULL DEFAULT 'open'
);

CREATE UNIQUE INDEX transfers_position ON transfers (network, transaction_hash, log_index) WHERE status = 'seen';

CREATE INDEX transfers_revocable ON transfers (network, block_height) WHERE is_final = 0 AND status = 'seen';

CREATE INDEX transfers_organization ON transfers (organization_id, id);

CREATE INDEX transfers_inbox ON transfers (organization_id, disposition, id) WHERE disposition <> 'matched' AND status = 'seen';

CREATE INDEX transfers_reverted ON transfers (organization_id, id) WHERE status = 'orphaned';

CREATE TABLE payments (
  id TEXT NOT NULL PRIMARY KEY,
  organization_id TEXT NOT NULL,
  invoice_id TEXT NOT NULL,
  transfer_id TEXT NOT NULL REFERENCES transfers (id),
  network TEXT NOT NULL,
  token TEXT NOT NULL,
  amount TEXT CHECK (length(amount) = 78 AND amount NOT GLOB '*[^0-9]*') NOT NULL,
  settlement_amount TEXT CHECK (length(settlement_amount) = 78 AND settlement_amount NOT GLOB '*[^0-9]*') NOT NULL,
  settlement_currency TEXT NOT NULL,
  settlement_decimals INTEGER NOT NULL,
  token_decimals INTEGER NOT NULL,
  rule TEXT NOT NULL,
  source TEXT NOT NULL CHECK (source IN ('detected', 'submitted', 'operator')),
  status TEXT NOT NULL CHECK (status IN ('confirming', 'confirmed', 'reverted', 'review', 'rejected')),
  status_when_back TEXT,
  block_height INTEGER NOT NULL,
  block_hash TEXT NOT NULL,
  block_time INTEGER NOT NULL,
  required_confirmations INTEGER NOT NULL,
  confirms_at_height INTEGER NOT NULL,
  version INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  confirmed_at INTEGER,
  transaction_hash TEXT NOT NULL DEFAULT '',
  refund_requested TEXT CHECK (length(refund_requested) = 78 AND refund_requested NOT GLOB '*[^0-9]*') NOT NULL DEFAULT '000000000000000000000000000000000000000000000000000000000000000000000000000000',
  refunded TEXT CHECK (length(refunded) = 78 AND refunded NOT GLOB '*[^0-9]*') NOT NULL DEFAULT '000000000000000000000000000000000000000000000000000000000000000000000000000000',
  exchange_rate TEXT,
  wallet_id TEXT
);

CREATE INDEX payments_organization ON payments (organization_id, id);

CREATE INDEX payments_invoice ON payments (invoice_id, id);

CREATE INDEX payments_confirmed ON payments (organization_id, block_time) WHERE status = 'confirmed';

CREATE INDEX payments_confirming ON payments (network, confirms_at_height, id) WHERE status = 'confirming';

CREATE TABLE transfer_decisions (
  id TEXT NOT NULL PRIMARY KEY,
  organization_id TEXT NOT NULL,
  transfer_id TEXT NOT NULL REFERENCES transfers (id),
  decision TEXT NOT NULL CHECK (decision IN ('allocated', 'accepted', 'rejected', 'reversed', 'ignored', 'restored')),
  payment_id TEXT,
  invoice_id TEXT,
  amount TEXT CHECK (length(amount) = 78 AND amount NOT GLOB '*[^0-9]*') NOT NULL,
  actor_type TEXT NOT NULL,
  actor_id TEXT,
  actor_label TEXT NOT NULL,
  created_at INTEGER NOT NULL
);

CREATE INDEX transfer_decisions_transfer ON transfer_decisions (transfer_id, id);

CREATE TABLE payment_claims (
  id TEXT NOT NULL PRIMARY KEY,
  organization_id TEXT NOT NULL,
  invoice_id TEXT NOT NULL,
  network TEXT NOT NULL,
  transaction_hash TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'credited', 'review', 'refused')),
  reason TEXT,
  attempts INTEGER NOT NULL,
  next_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  closed_at INTEGER
);

CREATE UNIQUE INDEX payment_claims_hash ON payment_claims (invoice_id, transaction_hash);

CREATE INDEX payment_claims_organization ON payment_claims (organization_id, id);

CREATE INDEX payment_claims_due ON payment_claims (network, next_at, id) WHERE state = 'waiting';

CREATE TABLE webhook_endpoints (
  id TEXT NOT NULL PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  url TEXT NOT NULL,
  description TEXT,
  event_types TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('enabled', 'disabled')),
  disabled_reason TEXT,
  secret TEXT NOT NULL,
  previous_secret TEXT,
  previous_secret_until INTEGER,
  failing_since INTEGER,
  failing_notices INTEGER NOT NULL,
  first_given_up_at INTEGER,
  api_version TEXT NOT NULL,
  last_sequence INTEGER NOT NULL,
  version INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
);

CREATE INDEX webhook_endpoints_organization ON webhook_endpoints (organization_id, id);

CREATE INDEX webhook_endpoints_overlap ON webhook_endpoints (previous_secret_until) WHERE previous_secret_until IS NOT NULL;

CREATE TABLE webhook_deliveries (
  id TEXT NOT NULL PRIMARY KEY,
  organization_id TEXT NOT NULL,
  endpoint_id TEXT NOT NULL,
  event_id TEXT NOT NULL,
  event_type TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'in_progress', 'succeeded', 'failed', 'dead_letter')),
  sequence INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  due_at INTEGER,
  last_attempt_at INTEGER,
  lease_token TEXT,
  response_status INTEGER,
  last_error TEXT,
  replay_of TEXT,
  created_at INTEGER NOT NULL,
  completed_at INTEGER,
  body TEXT NOT NULL
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
  delivery_id TEXT NOT NULL,
  number INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL,
  response_status INTEGER,
  error_kind TEXT,
  body_excerpt TEXT,
  PRIMARY KEY (delivery_id, number)
);

CREATE TABLE customers (
  id TEXT NOT NULL PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  external_id TEXT,
  name TEXT NOT NULL,
  email TEXT,
  metadata TEXT NOT NULL,
  version INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
);

CREATE INDEX customers_organization ON customers (organization_id, id);

CREATE UNIQUE INDEX customers_external_id ON customers (organization_id, external_id) WHERE external_id IS NOT NULL;

CREATE INDEX customers_email ON customers (organization_id, email, id) WHERE email IS NOT NULL;

CREATE TABLE figure_changes (
  organization_id TEXT NOT NULL,
  id TEXT NOT NULL,
  measure TEXT NOT NULL,
  happened_at INTEGER NOT NULL,
  currency TEXT NOT NULL,
  subject TEXT NOT NULL,
  sign INTEGER NOT NULL CHECK (sign IN (1, -1)),
  amount TEXT CHECK (length(amount) = 78 AND amount NOT GLOB '*[^0-9]*') NOT NULL,
  items INTEGER NOT NULL DEFAULT 1,
  PRIMARY KEY (organization_id, id)
);

CREATE TABLE figures (
  organization_id TEXT NOT NULL,
  measure TEXT NOT NULL,
  grain TEXT NOT NULL CHECK (grain IN ('hour', 'day')),
  starts_at INTEGER NOT NULL,
  currency TEXT NOT NULL,
  subject TEXT NOT NULL,
  items INTEGER NOT NULL,
  sign INTEGER NOT NULL CHECK (sign IN (1, -1)),
  amount TEXT CHECK (length(amount) = 78 AND amount NOT GLOB '*[^0-9]*') NOT NULL,
  PRIMARY KEY (organization_id, measure, grain, starts_at, currency, subject)
);

CREATE TABLE subscriptions (
  id TEXT NOT NULL PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  status TEXT NOT NULL CHECK (status IN ('trialing', 'active', 'past_due', 'suspended', 'canceled')),
  status_reason TEXT,
  terms TEXT NOT NULL,
  pending_plan TEXT,
  plan_change_effective_at INTEGER,
  anchor_at INTEGER NOT NULL,
  period_index INTEGER NOT NULL,
  current_period_start INTEGER NOT NULL,
  current_period_end INTEGER NOT NULL,
  trial_ends_at INTEGER,
  trial_notice_at INTEGER,
  had_trial INTEGER NOT NULL,
  usage_notice INTEGER NOT NULL,
  suspended_at INTEGER,
  canceled_at INTEGER,
  cancel_at INTEGER,
  next_action_at INTEGER,
  parked_at INTEGER,
  park_reason TEXT,
  parked_until INTEGER,
  park_count INTEGER NOT NULL,
  version INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  pending_terms TEXT,
  issued_from INTEGER,
  issued_count INTEGER NOT NULL DEFAULT 0
);

CREATE INDEX subscriptions_organization ON subscriptions (organization_id, id);

CREATE UNIQUE INDEX subscriptions_live ON subscriptions (organization_id) WHERE status <> 'canceled';

CREATE INDEX subscriptions_status ON subscriptions (status, id);

CREATE INDEX subscriptions_due ON subscriptions (next_action_at) WHERE next_action_at IS NOT NULL;

CREATE TABLE platform_invoices (
  id TEXT NOT NULL PRIMARY KEY,
  number TEXT NOT NULL,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  subscription_id TEXT NOT NULL REFERENCES subscriptions (id),
  status TEXT NOT NULL CHECK (status IN ('open', 'paid', 'past_due', 'void')),
  period_start INTEGER NOT NULL,
  period_end INTEGER NOT NULL,
  currency TEXT NOT NULL,
  decimals INTEGER NOT NULL,
  subtotal TEXT CHECK (length(subtotal) = 79 AND substr(subtotal, 1, 1) IN ('-', '0') AND substr(subtotal, 2) NOT GLOB '*[^0-9]*') NOT NULL,
  discount_total TEXT CHECK (length(discount_total) = 78 AND discount_total NOT GLOB '*[^0-9]*') NOT NULL,
  credit_total TEXT CHECK (length(credit_total) = 79 AND substr(credit_total, 1, 1) IN ('-', '0') AND substr(credit_total, 2) NOT GLOB '*[^0-9]*') NOT NULL,
  total TEXT CHECK (length(total) = 78 AND total NOT GLOB '*[^0-9]*') NOT NULL,
  inputs TEXT NOT NULL,
  usage_from INTEGER,
  usage_to INTEGER,
  usage_count INTEGER,
  paid_surplus TEXT CHECK (length(paid_surplus) = 78 AND paid_surplus NOT GLOB '*[^0-9]*') NOT NULL,
  issued_at INTEGER NOT NULL,
  due_at INTEGER NOT NULL,
  past_due_at INTEGER,
  dunning_from INTEGER,
  paid_at INTEGER,
  voided_at INTEGER,
  reminders_sent INTEGER NOT NULL,
  twin_id TEXT,
  twin_public_id TEXT,
  twin_checkout_id TEXT,
  version INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
);

CREATE UNIQUE INDEX platform_invoices_number ON platform_invoices (number);

CREATE UNIQUE INDEX platform_invoices_period ON platform_invoices (subscription_id, period_start) WHERE status <> 'void';

CREATE INDEX platform_invoices_organization ON platform_invoices (organization_id, id);

CREATE INDEX platform_invoices_organization_status ON platform_invoices (organization_id, status, id);

CREATE INDEX platform_invoices_status ON platform_invoices (status, id);

CREATE INDEX platform_invoices_unpaid ON platform_invoices (subscription_id, id) WHERE status IN ('open', 'past_due');

CREATE INDEX platform_invoices_twin ON platform_invoices (twin_id) WHERE twin_id IS NOT NULL;

CREATE TABLE platform_invoice_twins (
  twin_id TEXT NOT NULL PRIMARY KEY,
  platform_invoice_id TEXT NOT NULL REFERENCES platform_invoices (id),
  created_at INTEGER NOT NULL
);

CREATE INDEX platform_invoice_twins_invoice ON platform_invoice_twins (platform_invoice_id);

CREATE TABLE platform_invoice_lines (
  id TEXT NOT NULL PRIMARY KEY,
  platform_invoice_id TEXT NOT NULL REFERENCES platform_invoices (id),
  position INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('plan', 'usage', 'adjustment', 'discount', 'credit')),
  description TEXT NOT NULL,
  quantity INTEGER NOT NULL,
  unit_amount TEXT CHECK (length(unit_amount) = 79 AND substr(unit_amount, 1, 1) IN ('-', '0') AND substr(unit_amount, 2) NOT GLOB '*[^0-9]*') NOT NULL,
  amount TEXT CHECK (length(amount) = 79 AND substr(amount, 1, 1) IN ('-', '0') AND substr(amount, 2) NOT GLOB '*[^0-9]*') NOT NULL,
  source_id TEXT
);

CREATE UNIQUE INDEX platform_invoice_lines_position ON platform_invoice_lines (platform_invoice_id, position);

CREATE TRIGGER platform_invoice_lines_no_update BEFORE UPDATE ON platform_invoice_lines
  BEGIN SELECT RAISE(ABORT, 'rows of platform_invoice_lines are never changed'); END;

CREATE TRIGGER platform_invoice_lines_no_delete BEFORE DELETE ON platform_invoice_lines
  BEGIN SELECT RAISE(ABORT, 'rows of platform_invoice_lines are never changed'); END;

CREATE TABLE credits (
  id TEXT NOT NULL PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  amount TEXT CHECK (length(amount) = 78 AND amount NOT GLOB '*[^0-9]*') NOT NULL,
  remaining TEXT CHECK (length(remaining) = 78 AND remaining NOT GLOB '*[^0-9]*') NOT NULL,
  currency TEXT NOT NULL,
  decimals INTEGER NOT NULL,
  reason TEXT NOT NULL,
  expires_at INTEGER,
  created_by TEXT NOT NULL,
  source_invoice_id TEXT,
  created_at INTEGER NOT NULL,
  version INTEGER NOT NULL,
  CHECK (remaining <= amount)
);

CREATE INDEX credits_organization ON credits (organization_id, id);

CREATE INDEX credits_remaining ON credits (organization_id, currency, remaining);

CREATE INDEX credits_source ON credits (source_invoice_id, id) WHERE source_invoice_id IS NOT NULL;

CREATE TABLE credit_applications (
  credit_id TEXT NOT NULL REFERENCES credits (id),
  platform_invoice_id TEXT NOT NULL REFERENCES platform_invoices (id),
  amount TEXT CHECK (length(amount) = 78 AND amount NOT GLOB '*[^0-9]*') NOT NULL,
  reversed_at INTEGER,
  PRIMARY KEY (credit_id, platform_invoice_id)
);

CREATE INDEX credit_applications_invoice ON credit_applications (platform_invoice_id);

CREATE TABLE discounts (
  id TEXT NOT NULL PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  kind TEXT NOT NULL CHECK (kind IN ('percent', 'fixed')),
  value TEXT NOT NULL,
  currency TEXT,
  decimals INTEGER,
  periods INTEGER,
  periods_used INTEGER NOT NULL,
  reason TEXT NOT NULL,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  CHECK (periods_used >= 0 AND (periods IS NULL OR periods_used <= periods))
);

CREATE INDEX discounts_organization ON discounts (organization_id, id);

CREATE TABLE discount_uses (
  discount_id TEXT NOT NULL REFERENCES discounts (id),
  platform_invoice_id TEXT NOT NULL REFERENCES platform_invoices (id),
  amount TEXT CHECK (length(amount) = 78 AND amount NOT GLOB '*[^0-9]*') NOT NULL,
  reversed_at INTEGER,
  PRIMARY KEY (discount_id, platform_invoice_id)
);

CREATE INDEX discount_uses_invoice ON discount_uses (platform_invoice_id);

CREATE TABLE adjustments (
  id TEXT NOT NULL PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  amount TEXT CHECK (length(amount) = 79 AND substr(amount, 1, 1) IN ('-', '0') AND substr(amount, 2) NOT GLOB '*[^0-9]*') NOT NULL,
  currency TEXT NOT NULL,
  decimals INTEGER NOT NULL,
  description TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'invoiced')),
  platform_invoice_id TEXT,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL
);

CREATE INDEX adjustments_organization ON adjustments (organization_id, id);

CREATE INDEX adjustments_pending ON adjustments (organization_id, currency, id) WHERE status = 'pending';

CREATE INDEX adjustments_invoice ON adjustments (platform_invoice_id) WHERE platform_invoice_id IS NOT NULL;

CREATE TABLE billing_state (
  id TEXT NOT NULL PRIMARY KEY CHECK (id = 'billing'),
  next_number INTEGER NOT NULL,
  receive_wallet_id TEXT,
  receive_token TEXT,
  receive_set_at INTEGER,
  heartbeat_at INTEGER,
  version INTEGER NOT NULL
);

INSERT INTO billing_state (id, next_number, version) VALUES ('billing', 1, 1);

CREATE TABLE invoice_terms (
  organization_id TEXT NOT NULL,
  term TEXT NOT NULL,
  invoice_id TEXT NOT NULL,
  PRIMARY KEY (organization_id, term, invoice_id)
) WITHOUT ROWID;

CREATE TABLE customer_terms (
  organization_id TEXT NOT NULL,
  term TEXT NOT NULL,
  customer_id TEXT NOT NULL,
  PRIMARY KEY (organization_id, term, customer_id)
) WITHOUT ROWID;

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
  network TEXT NOT NULL,
  from_height INTEGER NOT NULL,
  parent_hash TEXT,
  to_height INTEGER NOT NULL,
  to_hash TEXT NOT NULL,
  readings TEXT NOT NULL,
  opened_at INTEGER NOT NULL,
  PRIMARY KEY (network, from_height)
);

CREATE TABLE half_full_bands (
  network TEXT NOT NULL,
  address TEXT NOT NULL,
  token TEXT NOT NULL,
  price TEXT CHECK (length(price) = 78 AND price NOT GLOB '*[^0-9]*') NOT NULL,
  most TEXT CHECK (length(most) = 78 AND most NOT GLOB '*[^0-9]*') NOT NULL,
  places INTEGER NOT NULL,
  organization_id TEXT NOT NULL,
  warned_at INTEGER NOT NULL,
  PRIMARY KEY (network, address, token, price)
);

CREATE INDEX events_audit_heads ON events (id) WHERE type = 'audit.head';

CREATE TABLE organization_logos (
  name TEXT NOT NULL,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  image TEXT NOT NULL,
  PRIMARY KEY (name, organization_id)
);

CREATE INDEX organization_logos_organization ON organization_logos (organization_id);

CREATE INDEX holds_ending ON holds (network, ends_at) WHERE released_at IS NULL AND ends_at IS NOT NULL;

CREATE TABLE refunds (
  id TEXT NOT NULL PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  invoice_id TEXT NOT NULL REFERENCES invoices (id),
  payment_id TEXT NOT NULL REFERENCES payments (id),
  source TEXT NOT NULL CHECK (source IN ('payer', 'merchant')),
  status TEXT NOT NULL CHECK (status IN ('requested', 'sent', 'confirmed', 'rejected')),
  network TEXT NOT NULL,
  token TEXT NOT NULL,
  token_decimals INTEGER NOT NULL,
  amount TEXT CHECK (length(amount) = 78 AND amount NOT GLOB '*[^0-9]*') NOT NULL,
  address TEXT NOT NULL,
  from_address TEXT NOT NULL,
  payment_hash TEXT NOT NULL,
  payment_height INTEGER NOT NULL,
  transaction_hash TEXT,
  block_height INTEGER,
  block_hash TEXT,
  refusal TEXT,
  refused_hash TEXT,
  reason TEXT,
  attempts INTEGER NOT NULL,
  next_at INTEGER NOT NULL,
  version INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  sent_at INTEGER,
  confirmed_at INTEGER,
  payment_rule TEXT NOT NULL DEFAULT '',
  denials INTEGER NOT NULL DEFAULT 0,
  held_attempts INTEGER NOT NULL DEFAULT 0
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
  id TEXT NOT NULL PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  status TEXT NOT NULL,
  amount TEXT,
  min_amount TEXT,
  max_amount TEXT,
  terms TEXT NOT NULL,
  version INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
);

CREATE INDEX payment_links_organization ON payment_links (organization_id, id);

CREATE INDEX invoices_partly_paid ON invoices (organization_id, settlement_currency, settlement_decimals, amount, payable_amount, seen_amount, paid_amount) WHERE status = 'partially_paid';

CREATE INDEX invoices_several ON invoices (organization_id, id) WHERE paid_amount IS NOT NULL;

CREATE INDEX invoices_several_paid ON invoices (organization_id, paid_at, id) WHERE paid_amount IS NOT NULL AND paid_at IS NOT NULL;

CREATE INDEX invoices_several_amount ON invoices (organization_id, amount, id) WHERE paid_amount IS NOT NULL;

CREATE INDEX transfers_unverified ON transfers (network, id) WHERE verification = 'open' AND is_final = 1 AND status = 'seen' AND disposition <> 'matched';
