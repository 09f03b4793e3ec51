-- Numbered, append-only migrations in the common subset of SQLite and PostgreSQL. A change of the schema is a new section at
-- the end; a section that has been released is never edited. `INTEGER PRIMARY KEY` numbers rows by itself.
-- The CHECK lists repeat domain/transitions; a test compares the two.

-- migration 1: the spine

CREATE TABLE agent_sessions (
  id               TEXT PRIMARY KEY,
  agent_name       TEXT NOT NULL,
  status           TEXT NOT NULL DEFAULT 'running'
                   CHECK (status IN ('running', 'pending_input', 'completed', 'failed', 'cancelled')),
  original_payload TEXT NOT NULL,
  execution_state  TEXT,              -- the agent's own, byte for byte, as of its last checkpoint
  created_at       TEXT NOT NULL,
  updated_at       TEXT NOT NULL,
  completed_at     TEXT,
  parent_id        TEXT,
  idempotency_key  TEXT,
  result           TEXT,
  error            TEXT,
  questions_asked  BIGINT NOT NULL DEFAULT 0,
  turn             BIGINT NOT NULL DEFAULT 1,
  turn_reason      TEXT NOT NULL DEFAULT 'start',
  attempts         BIGINT NOT NULL DEFAULT 0,   -- claims of this turn, counted before it runs
  refusals         BIGINT NOT NULL DEFAULT 0,   -- asks refused in a row
  resume           TEXT,              -- how the last ask ended, for the turn that is due
  due_at           TEXT,              -- when the turn may be claimed; while it is leased, when the lease ends; null: nothing to run
  lease_number     BIGINT NOT NULL DEFAULT 0,
  leased_by        TEXT
);
CREATE INDEX idx_sessions_status ON agent_sessions(status);
CREATE INDEX idx_sessions_due ON agent_sessions(due_at) WHERE due_at IS NOT NULL;
CREATE INDEX idx_sessions_leased ON agent_sessions(leased_by) WHERE leased_by IS NOT NULL;
CREATE INDEX idx_sessions_completed ON agent_sessions(completed_at) WHERE completed_at IS NOT NULL;
CREATE INDEX idx_sessions_parent ON agent_sessions(parent_id) WHERE parent_id IS NOT NULL;
CREATE UNIQUE INDEX idx_sessions_idempotency ON agent_sessions(agent_name, idempotency_key) WHERE idempotency_key IS NOT NULL;

CREATE TABLE agent_questions (
  id             TEXT PRIMARY KEY,
  session_id     TEXT NOT NULL REFERENCES agent_sessions(id),
  agent_name     TEXT NOT NULL,
  question       TEXT NOT NULL,
  context        TEXT,
  answer         TEXT,                -- as one line, for people; selected and answer_text are what counts
  answered_at    TEXT,
  created_at     TEXT NOT NULL,
  ask            BIGINT NOT NULL,     -- the turn that asked
  position       BIGINT NOT NULL,
  header         TEXT,
  options        TEXT NOT NULL,
  multi_select   BIGINT NOT NULL,
  allow_other    BIGINT NOT NULL,
  style          TEXT NOT NULL CHECK (style IN ('buttons', 'select')),
  default_choice TEXT,
  on_timeout     TEXT NOT NULL CHECK (on_timeout IN ('fail', 'default', 'continue')),
  tool_call_id   TEXT,
  deadline_at    TEXT NOT NULL,
  status         TEXT NOT NULL DEFAULT 'pending'
                 CHECK (status IN ('pending', 'answered', 'timed_out', 'defaulted', 'cancelled')),
  selected       TEXT,
  answer_text    TEXT,
  answered_by    TEXT,
  answered_via   TEXT,
  settled_at     TEXT
);
CREATE INDEX idx_questions_session ON agent_questions(session_id);
CREATE INDEX idx_questions_status ON agent_questions(status, id);
CREATE INDEX idx_questions_deadline ON agent_questions(deadline_at) WHERE status = 'pending';

CREATE TABLE agent_messages (
  id         TEXT PRIMARY KEY,
  session_id TEXT NOT NULL REFERENCES agent_sessions(id),
  body       TEXT NOT NULL,
  created_at TEXT NOT NULL,
  turn       BIGINT                   -- the turn it was handed over with; null: it waits
);
CREATE INDEX idx_messages_session ON agent_messages(session_id, id);

CREATE TABLE agent_events (
  seq        INTEGER PRIMARY KEY,
  session_id TEXT NOT NULL,
  type       TEXT NOT NULL,
  at         TEXT NOT NULL,
  data       TEXT NOT NULL
);
CREATE INDEX idx_events_session ON agent_events(session_id, seq);

CREATE TABLE deliveries (
  id              TEXT PRIMARY KEY,
  session_id      TEXT NOT NULL REFERENCES agent_sessions(id),
  question_id     TEXT,
  agent_name      TEXT NOT NULL,
  channel         TEXT NOT NULL,
  event           TEXT NOT NULL,
  destination     TEXT NOT NULL,
  host            TEXT NOT NULL,
  body            TEXT NOT NULL,
  status          TEXT NOT NULL DEFAULT 'pending'
                  CHECK (status IN ('pending', 'delivered', 'dead', 'obsolete')),
  attempts        BIGINT NOT NULL DEFAULT 0,    -- counted at claim; names the attempt whose outcome may be written
  next_attempt_at TEXT,
  last_status     BIGINT,
  last_error      TEXT,
  created_at      TEXT NOT NULL,
  delivered_at    TEXT
);
CREATE INDEX idx_deliveries_due ON deliveries(host, next_attempt_at) WHERE status = 'pending';
CREATE INDEX idx_deliveries_session ON deliveries(session_id);
CREATE INDEX idx_deliveries_status ON deliveries(status, id);

CREATE TABLE disabled_destinations (
  destination TEXT PRIMARY KEY,
  disabled_at TEXT NOT NULL,
  reason      TEXT NOT NULL
);

-- Rewritten after a failed commit, to see whether the disk takes a real one again.
CREATE TABLE commit_probe (
  id     BIGINT PRIMARY KEY,
  filler TEXT NOT NULL
);

-- migration 2: access

-- Rows of api_keys and users are kept when they are revoked or removed: a server on which nobody ever made a credential is
-- open to its own machine, and must not become so again by itself.
CREATE TABLE api_keys (
  id             TEXT PRIMARY KEY,
  name           TEXT NOT NULL,
  secret_hash    TEXT NOT NULL,
  scopes         TEXT NOT NULL,       -- separated by spaces
  created_at     TEXT NOT NULL,
  expires_at     TEXT,
  revoked_at     TEXT,
  last_used_at   TEXT,
  last_used_from TEXT
);

CREATE TABLE users (
  name          TEXT PRIMARY KEY,
  role          TEXT NOT NULL CHECK (role IN ('viewer', 'answerer', 'admin')),
  password_hash TEXT,                 -- null: comes through a trusted proxy only
  created_at    TEXT NOT NULL,
  removed_at    TEXT,
  last_login_at TEXT
);

CREATE TABLE logins (
  token_hash TEXT PRIMARY KEY,
  user_name  TEXT NOT NULL,
  created_at TEXT NOT NULL,
  expires_at TEXT NOT NULL
);
CREATE INDEX idx_logins_user ON logins(user_name);
CREATE INDEX idx_logins_expires ON logins(expires_at);

-- A link's right to answer one question. Only the token's hash is here; a delivery that is sent again gets another token.
CREATE TABLE answer_links (
  token_hash  TEXT PRIMARY KEY,
  question_id TEXT NOT NULL REFERENCES agent_questions(id),
  session_id  TEXT NOT NULL REFERENCES agent_sessions(id),
  channel     TEXT NOT NULL,
  recipient   TEXT NOT NULL,
  created_at  TEXT NOT NULL
);
CREATE INDEX idx_links_session ON answer_links(session_id);
ALTER TABLE deliveries ADD COLUMN link_for TEXT;

-- Signed webhooks that were taken, for a day: none is taken twice.
CREATE TABLE webhook_receipts (
  agent_name     TEXT NOT NULL,
  signature_hash TEXT NOT NULL,
  webhook_id     TEXT NOT NULL,
  body_hash      TEXT NOT NULL,
  received_at    TEXT NOT NULL,
  PRIMARY KEY (agent_name, signature_hash)
);
CREATE INDEX idx_receipts_id ON webhook_receipts(agent_name, webhook_id);
CREATE INDEX idx_receipts_received ON webhook_receipts(received_at);

-- Each row's hash covers the row and the hash before it; audit_head names the last one.
CREATE TABLE audit_log (
  seq        BIGINT PRIMARY KEY,
  at         TEXT NOT NULL,
  actor      TEXT NOT NULL,
  credential TEXT NOT NULL,
  address    TEXT NOT NULL,
  action     TEXT NOT NULL,
  subject    TEXT NOT NULL,
  detail     TEXT NOT NULL,
  hash       TEXT NOT NULL
);
CREATE TABLE audit_head (
  id   BIGINT PRIMARY KEY,
  seq  BIGINT NOT NULL,
  hash TEXT NOT NULL
);

-- What this deployment signs its own forms with.
CREATE TABLE server_secrets (
  name  TEXT PRIMARY KEY,
  value TEXT NOT NULL
);

-- migration 3: several nodes

-- Leased sessions are few and found by their due_at; every claim paid for this one.
DROP INDEX idx_sessions_leased;

-- Rows of the audit log that stand in no chain yet. They are written here in the transaction of what they tell of, and linked
-- soon after, in one order for all, so that no two changes have to wait for each other.
CREATE TABLE audit_pending (
  id         TEXT PRIMARY KEY,
  at         TEXT NOT NULL,
  actor      TEXT NOT NULL,
  credential TEXT NOT NULL,
  address    TEXT NOT NULL,
  action     TEXT NOT NULL,
  subject    TEXT NOT NULL,
  detail     TEXT NOT NULL
);
INSERT INTO audit_head (id, seq, hash) VALUES (1, 0, '') ON CONFLICT DO NOTHING;

-- On PostgreSQL: how many commits each connection has made, raised by the commit itself. When the answer to one is lost, its row
-- tells whether it happened; setting `last` keeps it from happening afterwards.
CREATE TABLE commit_marks (
  connection TEXT PRIMARY KEY,
  number     BIGINT NOT NULL,
  last       BIGINT NOT NULL,
  made_at    TEXT NOT NULL,
  CHECK (number <= last)
);

-- migration 4: channels

-- A message about all questions of an ask names the turn that asked; message_ref is the platform's own name of the message, and
-- follows the delivery whose message this one edits, closes or answers.
ALTER TABLE deliveries ADD COLUMN ask BIGINT;
ALTER TABLE deliveries ADD COLUMN message_ref TEXT;
ALTER TABLE deliveries ADD COLUMN follows TEXT;
CREATE INDEX idx_deliveries_follows ON deliveries(follows) WHERE follows IS NOT NULL;

-- Mails that got a mail back, for a while: a mail that is read twice gets one.
CREATE TABLE mail_receipts (
  mail_hash   TEXT PRIMARY KEY,
  received_at TEXT NOT NULL
);
CREATE INDEX idx_mail_receipts_received ON mail_receipts(received_at);

-- migration 5: the inbox

-- SQLite took the index by status instead, and sorted all that was pending to find the first.
DROP INDEX idx_questions_deadline;
CREATE INDEX idx_questions_deadline ON agent_questions(status, deadline_at, id) WHERE status = 'pending';

-- Which kinds of channels a question went to when it was asked (`slack`, `email`, …), separated by spaces, for those who look for
-- it by them.
ALTER TABLE agent_questions ADD COLUMN channels TEXT NOT NULL DEFAULT '';

-- The processes that serve this database: each keeps its row fresh, and takes it away when it stops.
CREATE TABLE nodes (
  id         TEXT PRIMARY KEY,
  host       TEXT NOT NULL,
  address    TEXT NOT NULL,           -- what it listens on
  version    TEXT NOT NULL,
  started_at TEXT NOT NULL,
  seen_at    TEXT NOT NULL
);

-- migration 6: model agents

-- A sub-session names the turn of its parent that started it and waits for it, and the tool call that this was. The parent runs no
-- turn meanwhile: it is `running`, with no due_at.
ALTER TABLE agent_sessions ADD COLUMN spawned_by BIGINT;
ALTER TABLE agent_sessions ADD COLUMN spawn_call TEXT;

-- What its model has used up. cost_micros: millionths of a dollar; null: no price is known.
ALTER TABLE agent_sessions ADD COLUMN model_steps BIGINT NOT NULL DEFAULT 0;
ALTER TABLE agent_sessions ADD COLUMN input_tokens BIGINT NOT NULL DEFAULT 0;
ALTER TABLE agent_sessions ADD COLUMN output_tokens BIGINT NOT NULL DEFAULT 0;
ALTER TABLE agent_sessions ADD COLUMN cached_tokens BIGINT NOT NULL DEFAULT 0;
ALTER TABLE agent_sessions ADD COLUMN cost_micros BIGINT;

-- migration 7: asks from anywhere

-- What asks have in common that may join each other: of those, one is open at a time.
ALTER TABLE agent_sessions ADD COLUMN dedupe_key TEXT;
CREATE UNIQUE INDEX idx_sessions_open_ask ON agent_sessions(dedupe_key) WHERE dedupe_key IS NOT NULL AND status = 'pending_input';

-- Idempotency keys of asks that joined another one: the key stands for that one, also when it is over.
CREATE TABLE joined_asks (
  agent_name      TEXT NOT NULL,
  idempotency_key TEXT NOT NULL,
  session_id      TEXT NOT NULL REFERENCES agent_sessions(id),
  PRIMARY KEY (agent_name, idempotency_key)
);
CREATE INDEX idx_joined_session ON joined_asks(session_id);
