"""The first schema: all tables, views, functions and triggers of 0.2.0, the first release that is upgraded from.

Its number goes on from the migrations of development, which ended with this schema: a database that has them all is
already here, and may have views and triggers for release 0.1.0 besides. One that stopped before is refused by
`migrations.apply`.

What follows `--` in the definition of a table or a column is its comment in the database too.
"""

import os

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = None

_PROJECTS = """
CREATE TABLE projects (
    id uuid CONSTRAINT pk_projects PRIMARY KEY,
    slug text NOT NULL,
    name text NOT NULL,
    visibility text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    deleted_at timestamptz,
    description text NOT NULL DEFAULT '',  -- Markdown; empty: none
    labels jsonb NOT NULL DEFAULT '{}',
    CONSTRAINT ck_projects_visibility CHECK (visibility IN ('private', 'public'))
);
CREATE UNIQUE INDEX uq_projects_slug ON projects (slug) WHERE deleted_at IS NULL;
CREATE TABLE tokens (
    id uuid CONSTRAINT pk_tokens PRIMARY KEY,
    public_id text NOT NULL CONSTRAINT uq_tokens_public_id UNIQUE,
    secret_hash bytea NOT NULL,
    project_id uuid CONSTRAINT fk_tokens_project_id REFERENCES projects,  -- NULL: every project
    role text NOT NULL,
    name text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    last_used_at timestamptz,
    revoked_at timestamptz,
    CONSTRAINT ck_tokens_role CHECK (role IN ('reader', 'writer', 'admin'))
);
CREATE INDEX ix_tokens_project_id_id ON tokens (project_id, id);
CREATE TABLE audit_log (  -- who did what and when; nothing is changed or removed here
    id uuid CONSTRAINT pk_audit_log PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT now(),
    project_id uuid,  -- NULL: it concerns every project
    action text NOT NULL,
    subject text NOT NULL,  -- the id of what it was done to
    detail jsonb NOT NULL DEFAULT '{}',
    token_id uuid,  -- who did it; NULL: a command with access to the database
    request_id uuid,
    user_id uuid  -- the user who did it, without a token
);
CREATE INDEX ix_audit_log_deletions ON audit_log (project_id, subject)
    WHERE action IN ('grid.deleted', 'grid.restored');
CREATE INDEX ix_audit_log_project_id_id ON audit_log (project_id, id);
CREATE TABLE bi_readers (
    id uuid CONSTRAINT pk_bi_readers PRIMARY KEY,
    role_name text NOT NULL,
    project_id uuid CONSTRAINT fk_bi_readers_project_id REFERENCES projects  -- NULL: every project
);
CREATE INDEX ix_bi_readers_role_name ON bi_readers (role_name);
CREATE TABLE idempotency_keys (
    project_id uuid NOT NULL CONSTRAINT fk_idempotency_keys_project_id REFERENCES projects,
    key text NOT NULL,
    request_digest bytea NOT NULL,
    status smallint NOT NULL,
    headers jsonb NOT NULL,
    body bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT pk_idempotency_keys PRIMARY KEY (project_id, key)
);
CREATE INDEX ix_idempotency_keys_created_at ON idempotency_keys (created_at);
CREATE TABLE signing_keys (
    name text CONSTRAINT pk_signing_keys PRIMARY KEY,
    secret bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE shares (
    id uuid CONSTRAINT pk_shares PRIMARY KEY,
    project_id uuid NOT NULL CONSTRAINT fk_shares_project_id REFERENCES projects,
    path text NOT NULL,  -- what may be read: this path, its forms and what is below
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL
);
CREATE INDEX ix_shares_project_id_id ON shares (project_id, id);
CREATE TABLE suites (  -- lists of benchmarks that are ranked together
    id uuid CONSTRAINT pk_suites PRIMARY KEY,
    project_id uuid NOT NULL CONSTRAINT fk_suites_project_id REFERENCES projects,
    name text NOT NULL,
    benchmarks text[] NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT uq_suites_project_id_name UNIQUE (project_id, name)
);
CREATE TABLE baselines (  -- what contenders are judged against
    id uuid CONSTRAINT pk_baselines PRIMARY KEY,
    project_id uuid NOT NULL CONSTRAINT fk_baselines_project_id REFERENCES projects,
    name text NOT NULL,
    version integer NOT NULL,  -- the current one of baseline_versions
    CONSTRAINT uq_baselines_project_id_name UNIQUE (project_id, name)
);
CREATE TABLE baseline_versions (  -- definitions of baselines with their policies; none is ever changed
    baseline_id uuid NOT NULL CONSTRAINT fk_baseline_versions_baseline_id REFERENCES baselines,
    version integer NOT NULL,
    definition jsonb NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT pk_baseline_versions PRIMARY KEY (baseline_id, version)
);
"""
_GRIDS = """
CREATE TABLE names (
    project_id uuid NOT NULL CONSTRAINT fk_names_project_id REFERENCES projects,
    kind text NOT NULL,
    name text NOT NULL,
    CONSTRAINT pk_names PRIMARY KEY (project_id, kind, name)
);
CREATE TABLE aliases (
    id uuid CONSTRAINT pk_aliases PRIMARY KEY,
    project_id uuid NOT NULL CONSTRAINT fk_aliases_project_id REFERENCES projects,
    kind text NOT NULL,
    alias text NOT NULL,
    name text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT uq_aliases_project_id_kind_alias UNIQUE (project_id, kind, alias),
    CONSTRAINT ck_aliases_kind CHECK (kind IN ('model', 'benchmark', 'variant', 'experiment'))
);
CREATE TABLE experiments (  -- what people wrote about experiments; one without a row has grids only
    project_id uuid NOT NULL CONSTRAINT fk_experiments_project_id REFERENCES projects,
    name text NOT NULL,
    description text NOT NULL DEFAULT '',  -- Markdown; empty: none
    labels jsonb NOT NULL DEFAULT '{}',
    updated_at timestamptz NOT NULL DEFAULT now(),
    protocol_rules jsonb,
        -- keys of protocols that bind, keys that are free, and whether they are required; NULL: not declared
    CONSTRAINT pk_experiments PRIMARY KEY (project_id, name)
);
CREATE TABLE grids (
    id uuid CONSTRAINT pk_grids PRIMARY KEY,
    project_id uuid NOT NULL CONSTRAINT fk_grids_project_id REFERENCES projects,
    identity uuid NOT NULL,  -- hash of the names below; they may be too long for an index
    experiment text NOT NULL,
    benchmark text NOT NULL,
    model text NOT NULL,
    variant text NOT NULL,
    metric text NOT NULL,
    revision integer NOT NULL,  -- the current one
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    deleted_at timestamptz,
    description text NOT NULL DEFAULT '',  -- Markdown; empty: none
    CONSTRAINT uq_grids_project_id_identity UNIQUE (project_id, identity)
);
CREATE INDEX ix_grids_project_id_experiment_metric_benchmark ON grids (project_id, experiment, metric, benchmark);
CREATE INDEX ix_grids_project_id_model ON grids (project_id, model);
CREATE INDEX ix_grids_project_id_updated_at_id ON grids (project_id, updated_at, id);
CREATE TABLE shapes (  -- metrics and axes of revisions, each stored once a project
    project_id uuid NOT NULL,
    id uuid NOT NULL,  -- hash of the metric and the axes
    metric jsonb NOT NULL,
    axes jsonb NOT NULL,
    CONSTRAINT pk_shapes PRIMARY KEY (project_id, id)
);
CREATE TABLE stored_revisions (  -- revisions as they are written; read them by the view `revisions`
    grid_id uuid NOT NULL CONSTRAINT fk_stored_revisions_grid_id REFERENCES grids,
    number integer NOT NULL,
    digest bytea NOT NULL,
    metric jsonb,  -- NULL: that of the shape
    axes jsonb,  -- NULL: those of the shape
    cell_count integer NOT NULL,
    "values" float8[],  -- NULL: numbers / scale
    trials bigint,  -- one number for every cell
    cell_trials bigint[],
    stderr float8[],
    repeats integer[],
    sd float8[],
    reasons jsonb,
    labels jsonb NOT NULL DEFAULT '{}',
    warnings jsonb NOT NULL DEFAULT '[]',
    created_at timestamptz NOT NULL DEFAULT now(),
    token_id uuid CONSTRAINT fk_stored_revisions_token_id REFERENCES tokens,  -- who posted it; NULL: the server itself
    questions integer,  -- that the trials of each cell are about
    design_effect float8,  -- the variance of a cell, over that of independent trials
    derived jsonb,  -- true, or the names of what it is made of; NULL: measured
    shape_id uuid,
    numbers integer[],  -- row-major, NULL where nobody measured
    scale integer,  -- power of ten
    source jsonb,  -- format, name and SHA-256 of the file that it was read from; NULL: not said
    protocol jsonb,  -- how it was measured, by key; NULL: not said
    project_id uuid NOT NULL,  -- that of the grid; says in which partition the row is
    CONSTRAINT pk_stored_revisions PRIMARY KEY (grid_id, number),
    CONSTRAINT fk_stored_revisions_shape_id FOREIGN KEY (project_id, shape_id) REFERENCES shapes,
    CONSTRAINT ck_stored_revisions_number CHECK (number > 0),
    CONSTRAINT ck_stored_revisions_shape CHECK (num_nulls(shape_id, axes) = 1 AND num_nulls(shape_id, metric) = 1),
    CONSTRAINT ck_stored_revisions_values CHECK (num_nulls("values", numbers) = 1 AND num_nulls("values", scale) = 1)
);
CREATE INDEX ix_stored_revisions_labels ON stored_revisions USING gin (labels jsonb_path_ops)
    WHERE labels <> '{}';
CREATE INDEX ix_stored_revisions_shape_id ON stored_revisions (project_id, shape_id);
"""
_ITEMS = """
CREATE TABLE item_ids (  -- ids of the items of sets, where they were given
    project_id uuid NOT NULL CONSTRAINT fk_item_ids_project_id REFERENCES projects,
    digest bytea NOT NULL,  -- SHA-256 of the ids in their order
    ids bytea NOT NULL,  -- JSON array of texts, gzip
    CONSTRAINT pk_item_ids PRIMARY KEY (project_id, digest)
);
CREATE TABLE item_outcomes (
    -- outcomes of items of one set in cells of a revision; several rows may be about one revision
    id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT pk_item_outcomes PRIMARY KEY,
    grid_id uuid NOT NULL,
    revision integer NOT NULL,
    set_name text NOT NULL,
    digest bytea NOT NULL,  -- of the item set
    count integer NOT NULL,  -- items of the set
    cells bytea NOT NULL,  -- JSON of the coordinates and what was posted there, gzip
    outcomes bytea NOT NULL,  -- bits or doubles of the cells, one after another, gzip
    token_id uuid CONSTRAINT fk_item_outcomes_token_id REFERENCES tokens,  -- who posted them
    created_at timestamptz NOT NULL DEFAULT now(),
    project_id uuid NOT NULL,  -- that of the grid; says in which partition the row is
    CONSTRAINT fk_item_outcomes_grid_id_revision FOREIGN KEY (grid_id, revision) REFERENCES stored_revisions
);
CREATE INDEX ix_item_outcomes_grid_id_revision ON item_outcomes (grid_id, revision);
CREATE TABLE item_continuations (
    -- revisions that were made by an amendment: cells that it left as they were keep their outcomes
    grid_id uuid NOT NULL,
    revision integer NOT NULL,
    since integer NOT NULL,  -- outcomes posted for this revision or later ones hold here too
    project_id uuid NOT NULL,  -- that of the grid; says in which partition the row is
    CONSTRAINT pk_item_continuations PRIMARY KEY (grid_id, revision),
    CONSTRAINT fk_item_continuations_grid_id_revision FOREIGN KEY (grid_id, revision) REFERENCES stored_revisions
);
"""
_RESULTS = """
CREATE TABLE derivations (
    grid_id uuid NOT NULL,
    revision integer NOT NULL,
    state text NOT NULL DEFAULT 'pending',
    due_at timestamptz NOT NULL DEFAULT now(),
    attempts smallint NOT NULL DEFAULT 0,
    lease uuid,
    leased_until timestamptz,
    reason text,  -- why the last attempt failed
    methods_version text,
    settled_at timestamptz,
    project_id uuid NOT NULL,  -- that of the grid; says in which partition the row is
    CONSTRAINT pk_derivations PRIMARY KEY (grid_id, revision),
    CONSTRAINT fk_derivations_grid_id_revision FOREIGN KEY (grid_id, revision) REFERENCES stored_revisions,
    CONSTRAINT ck_derivations_state CHECK (state IN ('pending', 'ready', 'failed'))
);
CREATE INDEX ix_derivations_failed ON derivations (grid_id) WHERE state = 'failed';
CREATE INDEX ix_derivations_pending ON derivations (due_at) WHERE state = 'pending';
CREATE TABLE statistics (
    grid_id uuid NOT NULL,
    revision integer NOT NULL,
    methods_version text NOT NULL,
    etag text NOT NULL,
    document bytea NOT NULL,  -- the finished JSON answer, gzip
    computed_at timestamptz NOT NULL DEFAULT now(),
    facts jsonb,  -- what the views of the schema bi show of the document
    project_id uuid NOT NULL,  -- that of the grid; says in which partition the row is
    CONSTRAINT pk_statistics PRIMARY KEY (grid_id, revision),
    CONSTRAINT fk_statistics_grid_id_revision FOREIGN KEY (grid_id, revision) REFERENCES stored_revisions
);
-- Compressed already: PostgreSQL need not try again.
ALTER TABLE statistics ALTER document SET STORAGE EXTERNAL;
CREATE TABLE cached_results (
    id uuid CONSTRAINT pk_cached_results PRIMARY KEY,
    project_id uuid NOT NULL CONSTRAINT fk_cached_results_project_id REFERENCES projects,
    experiment text NOT NULL,
    metric text NOT NULL,
    query jsonb NOT NULL,
    query_key uuid NOT NULL,  -- hash of the query
    state text NOT NULL DEFAULT 'pending',
    due_at timestamptz NOT NULL DEFAULT now(),
    attempts smallint NOT NULL DEFAULT 0,
    lease uuid,
    leased_until timestamptz,
    reason text,  -- why the last attempt failed
    generation integer NOT NULL DEFAULT 1,  -- grows when an input changes
    document_generation integer NOT NULL DEFAULT 0,  -- the generation that the document was computed for
    document bytea,  -- the finished JSON answer, gzip
    etag text,
    methods_version text,
    seconds real NOT NULL DEFAULT 0,  -- what the last computation took
    computed_at timestamptz,
    read_at timestamptz NOT NULL DEFAULT now(),
    facts jsonb,  -- what the views of the schema bi show of the document
    is_default boolean NOT NULL DEFAULT false,
        -- whether every parameter has its default; such a result is computed before it is read
    CONSTRAINT uq_cached_results_project_id_query_key UNIQUE (project_id, query_key),
    CONSTRAINT ck_cached_results_state CHECK (state IN ('pending', 'ready', 'failed'))
);
ALTER TABLE cached_results ALTER document SET STORAGE EXTERNAL;
CREATE INDEX ix_cached_results_pending ON cached_results (due_at) WHERE state = 'pending';
CREATE INDEX ix_cached_results_project_id_experiment_metric ON cached_results (project_id, experiment, metric);
CREATE TABLE invalidations (
    id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT pk_invalidations PRIMARY KEY,
    project_id uuid NOT NULL,
    experiment text,  -- NULL: every experiment of the project
    metric text,
    grid_ids uuid[]  -- what changed; NULL: it may be any grid of the scope
);
CREATE INDEX ix_invalidations_project_id ON invalidations (project_id);
CREATE TABLE processes (  -- processes that compute; each writes its own row every few seconds while it lives
    id uuid CONSTRAINT pk_processes PRIMARY KEY,
    role text NOT NULL,  -- dispatcher, worker or inline-worker
    host text NOT NULL,
    pid integer NOT NULL,
    version text NOT NULL,
    methods_version text NOT NULL,
    broker_up boolean,  -- whether the broker answered it last; NULL: it does not ask
    started_at timestamptz NOT NULL DEFAULT now(),
    seen_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE job_counts (  -- jobs since the registry was made; the numbers only grow
    kind text CONSTRAINT pk_job_counts PRIMARY KEY,  -- statistics, or the kind of a query
    computed bigint NOT NULL,
    failed bigint NOT NULL,  -- attempts that failed
    seconds float8 NOT NULL  -- what all of them took
);
"""
_PAIR_SUMS = """
CREATE TABLE pair_sum_scopes (  -- experiments and metrics that are too large to be ranked from their cells each time
    id uuid CONSTRAINT pk_pair_sum_scopes PRIMARY KEY,
    project_id uuid NOT NULL CONSTRAINT fk_pair_sum_scopes_project_id REFERENCES projects,
    experiment text NOT NULL,
    metric text NOT NULL,
    is_complete boolean NOT NULL DEFAULT false,  -- false: the sums are to be computed from nothing
    exponent smallint,  -- sums are in units of 10^-exponent
    grids integer NOT NULL DEFAULT 0,
    slots bigint NOT NULL DEFAULT 0,  -- with a cell
    compared bigint NOT NULL DEFAULT 0,  -- slots with two names or more
    kinds jsonb NOT NULL DEFAULT '{}',  -- grids by unit and direction
    checksum uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
    CONSTRAINT uq_pair_sum_scopes_project_id_experiment_metric UNIQUE (project_id, experiment, metric)
);
CREATE TABLE pair_sums (
    scope_id uuid NOT NULL CONSTRAINT fk_pair_sums_scope_id REFERENCES pair_sum_scopes,
    position integer NOT NULL,
    name text NOT NULL,
    cells bigint NOT NULL,
    sums bytea NOT NULL,  -- of the pairs with each position, as the grids of this name came
    CONSTRAINT pk_pair_sums PRIMARY KEY (scope_id, position),
    CONSTRAINT uq_pair_sums_scope_id_name UNIQUE (scope_id, name)
);
ALTER TABLE pair_sums ALTER sums SET STORAGE EXTERNAL;
CREATE TABLE pair_sum_inputs (
    scope_id uuid NOT NULL CONSTRAINT fk_pair_sum_inputs_scope_id REFERENCES pair_sum_scopes,
    grid_id uuid NOT NULL CONSTRAINT fk_pair_sum_inputs_grid_id REFERENCES grids,
    revision integer NOT NULL,  -- the one that is in the sums
    updated_at timestamptz NOT NULL,  -- the grid's, when it was added to the sums
    CONSTRAINT pk_pair_sum_inputs PRIMARY KEY (scope_id, grid_id)
);
CREATE TABLE pair_sum_queue (
    -- grids that changed since they were added to the sums; the same one may stand here often
    id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT pk_pair_sum_queue PRIMARY KEY,
    scope_id uuid NOT NULL,
    benchmark text NOT NULL,  -- that of the grid: they are added benchmark by benchmark
    grid_id uuid  -- NULL: every grid of the benchmark
);
CREATE INDEX ix_pair_sum_queue_scope_id_benchmark ON pair_sum_queue (scope_id, benchmark);
"""
_JUDGED = """
CREATE TABLE claims (  -- what somebody says of results, judged again whenever they change
    id uuid CONSTRAINT pk_claims PRIMARY KEY,
    project_id uuid NOT NULL CONSTRAINT fk_claims_project_id REFERENCES projects,
    digest bytea NOT NULL,  -- SHA-256 of the normal form
    experiment text NOT NULL,  -- as the claim names it, or its grid does
    metric text NOT NULL,
    query_key uuid NOT NULL,  -- the cached result that judges it
    normal text NOT NULL,  -- JSON; JSONB would write its numbers in another way
    text text NOT NULL DEFAULT '',
    source jsonb NOT NULL DEFAULT '{}',
    judgement integer NOT NULL DEFAULT 0,  -- number of the latest one
    verdict text,  -- of the latest judgement
    token_id uuid CONSTRAINT fk_claims_token_id REFERENCES tokens,  -- who posted it
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    archived_at timestamptz,
    CONSTRAINT uq_claims_project_id_digest UNIQUE (project_id, digest)
);
CREATE INDEX ix_claims_project_id_id ON claims (project_id, id);
CREATE INDEX ix_claims_project_id_query_key ON claims (project_id, query_key);
CREATE TABLE judgements (  -- judgements of claims that differ from the one before; none is ever changed
    claim_id uuid NOT NULL CONSTRAINT fk_judgements_claim_id REFERENCES claims,
    number integer NOT NULL,
    generation integer NOT NULL,  -- of the cached result that it came with
    verdict text NOT NULL,
    as_posted text NOT NULL,
    beyond_noise text NOT NULL,
    reason text,
    document bytea NOT NULL,  -- the finished JSON answer, gzip
    inputs jsonb NOT NULL,  -- grids with revision and digest
    fingerprint bytea NOT NULL,  -- SHA-256 of verdicts, reason and numbers: the next judgement has another
    methods_version text NOT NULL,
    judged_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT pk_judgements PRIMARY KEY (claim_id, number)
);
CREATE TABLE gate_verdicts (  -- verdicts on contenders of baselines; none is ever changed
    id uuid CONSTRAINT pk_gate_verdicts PRIMARY KEY,
    project_id uuid NOT NULL CONSTRAINT fk_gate_verdicts_project_id REFERENCES projects,
    baseline_id uuid NOT NULL,  -- of a baseline, which may be deleted since
    number integer NOT NULL,  -- from 1, of each baseline
    policy_version integer NOT NULL,
    contender text NOT NULL,
    inputs_key uuid NOT NULL,  -- hash of what was judged, with its revisions
    look integer,  -- tests of this version up to here; NULL: none was made
    passes boolean,
    document jsonb NOT NULL,
    grid_ids uuid[] NOT NULL,  -- the grids that were judged
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT uq_gate_verdicts_baseline_id_number UNIQUE (baseline_id, number)
);
CREATE INDEX ix_gate_verdicts_baseline_id_contender_number ON gate_verdicts (baseline_id, contender, number);
CREATE INDEX ix_gate_verdicts_project_id ON gate_verdicts (project_id);
CREATE TABLE alerts (  -- contenders that failed the policy of a baseline, and what people said of that
    id uuid CONSTRAINT pk_alerts PRIMARY KEY,
    project_id uuid NOT NULL CONSTRAINT fk_alerts_project_id REFERENCES projects,
    baseline_id uuid NOT NULL,  -- of a baseline, which may be deleted since
    baseline text NOT NULL,  -- its name
    policy_version integer NOT NULL,  -- of the verdict that failed last
    model text NOT NULL,
    benchmark text,  -- NULL: over all benchmarks
    at jsonb,  -- the cell; NULL: all of them
    key uuid NOT NULL,  -- hash of model, benchmark and cell
    state text NOT NULL DEFAULT 'open',
    resolution text,  -- why it is resolved
    reason text,  -- why it was dismissed
    note text NOT NULL DEFAULT '',
    is_right boolean,  -- what people said of it last; NULL: nothing yet
    group_id uuid NOT NULL,  -- shared by what one judging of the scope opened
    verdict_id uuid NOT NULL CONSTRAINT fk_alerts_verdict_id REFERENCES gate_verdicts,  -- that failed last
    seen integer NOT NULL DEFAULT 1,  -- verdicts that failed
    reopened integer NOT NULL DEFAULT 0,
    version integer NOT NULL DEFAULT 1,  -- grows with each change
    opened_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT uq_alerts_baseline_id_key UNIQUE (baseline_id, key),
    CONSTRAINT ck_alerts_resolution CHECK ((state = 'resolved') = (resolution IS NOT NULL)),
    CONSTRAINT ck_alerts_state CHECK (state IN ('open', 'acknowledged', 'resolved', 'dismissed'))
);
CREATE INDEX ix_alerts_project_id_opened_at_id ON alerts (project_id, opened_at, id);
CREATE INDEX ix_alerts_verdict_id ON alerts (verdict_id);
"""
_EVENTS = """
CREATE TABLE arrivals (  -- events of committed acts that have no position yet
    number bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT pk_arrivals PRIMARY KEY,
    id uuid NOT NULL DEFAULT gen_random_uuid(),  -- of the event
    project_id uuid NOT NULL,  -- no foreign key: each act would lock the row of its project
    type text NOT NULL,
    subject text NOT NULL,
    data jsonb NOT NULL,
    at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE event_heads (  -- one row a project; who holds it gives positions
    project_id uuid CONSTRAINT pk_event_heads PRIMARY KEY,
    position bigint NOT NULL DEFAULT 0,  -- of the latest event
    first bigint NOT NULL DEFAULT 1  -- position of the oldest event kept
);
CREATE TABLE events (  -- what was done in each project, in one order; kept for a time
    project_id uuid NOT NULL,
    position bigint NOT NULL,  -- 1, 2, 3, … of each project, without gaps
    id uuid NOT NULL,
    type text NOT NULL,
    subject text NOT NULL,
    data jsonb NOT NULL,
    at timestamptz NOT NULL,  -- when the act was done
    recorded_at timestamptz NOT NULL,  -- when it got its position
    CONSTRAINT pk_events PRIMARY KEY (project_id, position)
);
CREATE TABLE webhooks (  -- addresses to which events are sent
    id uuid CONSTRAINT pk_webhooks PRIMARY KEY,
    project_id uuid NOT NULL CONSTRAINT fk_webhooks_project_id REFERENCES projects,
    url text NOT NULL,
    types text[] NOT NULL,  -- such as claim.flipped or alert.*
    filter jsonb NOT NULL DEFAULT '{}',  -- names that an event must have
    format text NOT NULL DEFAULT 'standard',
    description text NOT NULL DEFAULT '',
    secret text NOT NULL,
    former_secret text,  -- signs too, until it ends
    former_until timestamptz,
    state text NOT NULL DEFAULT 'enabled',
    reason text,  -- why it is disabled
    failing_since timestamptz,  -- first failure after the last success
    failures integer NOT NULL DEFAULT 0,  -- attempts since then, all in vain
    position bigint NOT NULL DEFAULT 0,  -- events up to it have deliveries
    due_at timestamptz,  -- when there is something to send; NULL: not before an event
    paused_until timestamptz,  -- it is sent nothing before
    lease uuid,  -- of the thread that sends to it, one delivery after another
    leased_until timestamptz,
    version integer NOT NULL DEFAULT 1,  -- grows with each change
    token_id uuid CONSTRAINT fk_webhooks_token_id REFERENCES tokens,  -- who made it
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT ck_webhooks_format CHECK (format IN ('standard', 'cloudevents', 'slack', 'discord')),
    CONSTRAINT ck_webhooks_state CHECK (state IN ('enabled', 'disabled'))
);
CREATE INDEX ix_webhooks_due ON webhooks (due_at) WHERE state = 'enabled';
CREATE INDEX ix_webhooks_project_id ON webhooks (project_id);
CREATE TABLE deliveries (  -- one event for one webhook, until it was taken or given up
    id uuid CONSTRAINT pk_deliveries PRIMARY KEY,
    webhook_id uuid NOT NULL CONSTRAINT fk_deliveries_webhook_id REFERENCES webhooks ON DELETE CASCADE,
    project_id uuid NOT NULL,
    position bigint,  -- of the event; NULL: a test's own, which `event` holds
    event_id uuid NOT NULL,
    type text NOT NULL,
    event jsonb,
    state text NOT NULL DEFAULT 'pending',
    attempts integer NOT NULL DEFAULT 0,
    due_at timestamptz NOT NULL DEFAULT now(),
    created_at timestamptz NOT NULL DEFAULT now(),
    settled_at timestamptz,
    CONSTRAINT uq_deliveries_webhook_id_event_id UNIQUE (webhook_id, event_id),
    CONSTRAINT ck_deliveries_state CHECK (state IN ('pending', 'delivered', 'failed'))
);
CREATE INDEX ix_deliveries_pending ON deliveries (webhook_id, position) WHERE state = 'pending';
CREATE INDEX ix_deliveries_webhook_id_id ON deliveries (webhook_id, id);
CREATE TABLE delivery_attempts (  -- what came of each attempt
    delivery_id uuid NOT NULL CONSTRAINT fk_delivery_attempts_delivery_id REFERENCES deliveries ON DELETE CASCADE,
    number integer NOT NULL,
    status integer,  -- of the answer; NULL: there was none
    milliseconds integer,  -- until the answer
    error text,
    response text,  -- the first 1,000 bytes
    at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT pk_delivery_attempts PRIMARY KEY (delivery_id, number)
);
"""
_SIGN_IN = """
CREATE TABLE users (  -- people who signed in without a token
    id uuid CONSTRAINT pk_users PRIMARY KEY,
    issuer text NOT NULL,  -- who vouches for them: an OpenID provider's address, or proxy
    subject text NOT NULL,  -- the issuer's own, lasting name of them
    name text NOT NULL,  -- what they were called at their last visit
    created_at timestamptz NOT NULL DEFAULT now(),
    seen_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT uq_users_issuer_subject UNIQUE (issuer, subject)
);
CREATE TABLE members (  -- what users and groups may do
    id uuid CONSTRAINT pk_members PRIMARY KEY,
    project_id uuid CONSTRAINT fk_members_project_id REFERENCES projects,  -- NULL: every project
    kind text NOT NULL,
    name text NOT NULL,  -- as the issuer names the user or the group
    role text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT uq_members_project_id_kind_name UNIQUE NULLS NOT DISTINCT (project_id, kind, name),
    CONSTRAINT ck_members_kind CHECK (kind IN ('user', 'group')),
    CONSTRAINT ck_members_role CHECK (role IN ('reader', 'writer', 'admin'))
);
CREATE INDEX ix_members_kind_name ON members (kind, name);
CREATE TABLE sessions (
    id uuid CONSTRAINT pk_sessions PRIMARY KEY,
    secret_hash bytea NOT NULL CONSTRAINT uq_sessions_secret_hash UNIQUE,
    token_id uuid CONSTRAINT fk_sessions_token_id REFERENCES tokens ON DELETE CASCADE,  -- what was signed in with
    user_id uuid CONSTRAINT fk_sessions_user_id REFERENCES users ON DELETE CASCADE,  -- who signed in, without a token
    groups text[] NOT NULL DEFAULT '{}',  -- as they were at signing in
    began_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    CONSTRAINT ck_sessions_who CHECK (num_nonnulls(token_id, user_id) = 1)
);
CREATE INDEX ix_sessions_expires_at ON sessions (expires_at);
CREATE TABLE submitted_forms (  -- forms that were carried out: sent twice, they are carried out once
    id uuid CONSTRAINT pk_submitted_forms PRIMARY KEY,  -- the number that the form was shown with
    location text NOT NULL,  -- where its sender was led
    at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX ix_submitted_forms_at ON submitted_forms (at);
"""

_REVISIONS = """
CREATE VIEW revisions AS SELECT
    stored.grid_id, stored.number, stored.digest, COALESCE(stored.metric, shapes.metric) AS metric,
    COALESCE(stored.axes, shapes.axes) AS axes, stored.cell_count,
    COALESCE(stored.values, ARRAY(SELECT one / stored.scale::float8 FROM unnest(stored.numbers) AS one)) AS values,
    stored.trials, stored.cell_trials, stored.stderr, stored.repeats, stored.sd, stored.reasons, stored.labels,
    stored.warnings, stored.created_at, stored.token_id, stored.questions, stored.design_effect, stored.derived,
    stored.source, stored.protocol, stored.project_id
FROM stored_revisions AS stored
LEFT JOIN shapes ON shapes.project_id = stored.project_id AND shapes.id = stored.shape_id;
COMMENT ON VIEW revisions IS 'every revision of a grid, with its metric, axes and values';
"""

_REFUSE_CHANGES = """
CREATE FUNCTION registry_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    refused text := coalesce(TG_ARGV[0], TG_TABLE_NAME);
BEGIN
    -- Only `registry purge` sets this, for its own transaction; who may not DELETE gains nothing by it.
    IF TG_OP = 'DELETE' AND refused IN ('stored_revisions', 'shapes')
       AND coalesce(current_setting('registry.purging', true), '') = 'on' THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'rows of % are never changed (%)', refused, TG_OP USING ERRCODE = 'restrict_violation';
END
$$;
CREATE FUNCTION registry_refuse_change_of_items() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- Only `registry purge` sets this, for its own transaction; who may not DELETE gains nothing by it.
    IF TG_OP = 'DELETE' AND coalesce(current_setting('registry.purging', true), '') = 'on' THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'rows of % are never changed (%)', TG_TABLE_NAME, TG_OP USING ERRCODE = 'restrict_violation';
END
$$;
"""
_NEVER_CHANGED = {
    "audit_log_is": ("audit_log", "registry_refuse_change()"),
    "shapes_are": ("shapes", "registry_refuse_change()"),
    # It is told the name of its table, as a partition has another one.
    "stored_revisions_are": ("stored_revisions", "registry_refuse_change('stored_revisions')"),
    "item_ids_are": ("item_ids", "registry_refuse_change_of_items()"),
    "item_outcomes_are": ("item_outcomes", "registry_refuse_change_of_items()"),
    "item_continuations_are": ("item_continuations", "registry_refuse_change_of_items()"),
    "judgements_are": ("judgements", "registry_refuse_change_of_items()"),
    "gate_verdicts_are": ("gate_verdicts", "registry_refuse_change_of_items()"),
}
"""How the names of the triggers begin, their tables, and what they call."""

_SEEN = """p.deleted_at IS NULL AND EXISTS (SELECT 1 FROM public.bi_readers b WHERE b.role_name = current_user
    AND (b.project_id IS NULL OR b.project_id = p.id))"""
"""A role sees the projects that it was given; current_user is who asks, not who owns the view."""
_NAMES = "p.slug AS project, g.id AS grid, g.experiment, g.benchmark, g.model, g.variant, g.metric"
_GRIDS_OF_PROJECTS = "FROM public.projects p JOIN public.grids g ON g.project_id = p.id AND g.deleted_at IS NULL"
_CURRENT = f"""{_GRIDS_OF_PROJECTS}
    JOIN public.revisions r ON r.project_id = g.project_id AND r.grid_id = g.id AND r.number = g.revision"""
_DERIVED = f"""{_GRIDS_OF_PROJECTS}
    JOIN public.statistics s ON s.project_id = g.project_id AND s.grid_id = g.id AND s.revision = g.revision"""


def _axis(number: int) -> str:
    """The name, label and number of the level on one axis of the cell at `place`."""
    axis = f"(r.axes -> {number})"
    sizes = [f"COALESCE(NULLIF(jsonb_array_length(r.axes -> {n} -> 'levels'), 0), 1)" for n in range(number + 1, 4)]
    stride = " * ".join(["1", *sizes])
    size = f"NULLIF(jsonb_array_length({axis} -> 'levels'), 0)"
    level = f"({axis} -> 'levels' -> (((v.place - 1) / ({stride})) % {size})::integer)"
    return f"""
        {axis} ->> 'name' AS axis_{number + 1},
        CASE jsonb_typeof({level}) WHEN 'object' THEN {level} ->> 'label' ELSE {level} #>> '{{}}' END
            AS level_{number + 1},
        CASE jsonb_typeof({level}) WHEN 'object' THEN ({level} ->> 'number')::float8
            WHEN 'number' THEN ({level} #>> '{{}}')::float8 END AS number_{number + 1}"""


_BI = {
    "grids": f"""{_NAMES}, r.metric ->> 'unit' AS unit,
        r.metric ->> 'direction' AS direction, (r.metric ->> 'lower')::float8 AS lower,
        (r.metric ->> 'upper')::float8 AS upper, r.number AS revision, encode(r.digest, 'hex') AS digest,
        ARRAY(SELECT jsonb_array_elements(r.axes) ->> 'name') AS axes, r.cell_count AS cells,
        cardinality(r.values) AS possible, r.labels, g.created_at,
        greatest(r.created_at, g.created_at) AS updated_at, r.protocol {_CURRENT} WHERE {_SEEN}""",
    "cells": f"""{_NAMES}, r.metric ->> 'unit' AS unit,
        r.number AS revision, {",".join(map(_axis, range(4)))}, v.value,
        COALESCE(r.trials, r.cell_trials[v.place]) AS trials,
        COALESCE(r.stderr[v.place], r.sd[v.place] / sqrt(NULLIF(r.repeats[v.place], 1))) AS stderr,
        greatest(r.created_at, g.created_at) AS updated_at
        {_CURRENT}, LATERAL unnest(r.values) WITH ORDINALITY AS v (value, place)
        WHERE {_SEEN} AND v.value IS NOT NULL""",
    "trends": f"""{_NAMES}, s.revision, t ->> 0 AS along, t -> 1 AS at,
        (t ->> 2)::integer AS points, (t ->> 3)::float8 AS first, (t ->> 4)::float8 AS last,
        (t ->> 5)::float8 AS slope, (t ->> 6)::float8 AS slope_low, (t ->> 7)::float8 AS slope_high,
        (t ->> 8)::float8 AS p, (t ->> 9)::float8 AS q, t ->> 10 AS direction,
        t ->> 11 AS onset_until, t ->> 12 AS onset_by, (t ->> 13)::integer AS sharp_changes, s.computed_at
        {_DERIVED}, LATERAL jsonb_array_elements(s.facts -> 'trends') AS t WHERE {_SEEN}""",
    "peaks": f"""{_NAMES}, s.revision, (t ->> 0)::float8 AS value,
        t -> 1 AS at, (t ->> 2)::float8 AS probability_best, t ->> 3 AS standing, s.computed_at
        {_DERIVED}, LATERAL jsonb_array_elements(s.facts -> 'peaks') AS t WHERE {_SEEN}""",
    "coverage": f"""{_NAMES}, s.revision,
        (s.facts #>> '{{coverage,0}}')::integer AS cells, (s.facts #>> '{{coverage,1}}')::integer AS possible,
        (s.facts #>> '{{coverage,2}}')::integer AS components, s.computed_at
        {_DERIVED} WHERE {_SEEN} AND s.facts IS NOT NULL""",
    "rankings": f"""p.slug AS project, a.experiment, a.metric, a.query AS question,
        (t ->> 0)::integer AS rank, t ->> 1 AS name, (t ->> 2)::float8 AS score, (t ->> 3)::integer AS rank_low,
        (t ->> 4)::integer AS rank_high, (t ->> 5)::integer AS cells, (t ->> 6)::float8 AS wins,
        (t ->> 7)::float8 AS ties, (t ->> 8)::float8 AS losses, t -> 9 AS groups, a.computed_at
        FROM public.projects p
        JOIN public.cached_results a ON a.project_id = p.id AND a.document_generation = a.generation,
        LATERAL jsonb_array_elements(a.facts -> 'ranking') AS t WHERE {_SEEN}""",
}
"""Views of the schema bi, which SQL tools read: they show a role the projects that it was given."""


def upgrade() -> None:
    for tables in (_PROJECTS, _GRIDS, _ITEMS, _RESULTS, _PAIR_SUMS, _JUDGED, _EVENTS, _SIGN_IN):
        op.execute(tables)
        _comment(tables)
    for statements in (_REVISIONS, _REFUSE_CHANGES):
        op.execute(statements)
    for name, (table, function) in _NEVER_CHANGED.items():
        for end, events, each in (("changed", "UPDATE OR DELETE", "ROW"), ("emptied", "TRUNCATE", "STATEMENT")):
            op.execute(
                f"CREATE TRIGGER {name}_never_{end} BEFORE {events} ON {table} FOR EACH {each}"
                f" EXECUTE FUNCTION {function}"
            )
    op.execute("CREATE SCHEMA bi")
    for name, query in _BI.items():
        op.execute(f"CREATE VIEW bi.{name} WITH (security_barrier) AS SELECT {query}")
    keys = sa.table("signing_keys", sa.column("name", sa.Text()), sa.column("secret", sa.LargeBinary()))
    op.bulk_insert(keys, [{"name": name, "secret": os.urandom(32)} for name in ("shares", "forms")])


def _comment(tables: str) -> None:
    """Give tables and columns the comments that their definitions have."""
    table = named = ""
    for line in tables.splitlines():
        definition, _, comment = line.partition("  -- ")
        if definition.startswith("CREATE TABLE "):
            table = definition.split()[2]
            named = f"TABLE {table}"
        elif definition.strip():  # a comment alone on its line belongs to the one before
            named = f"COLUMN {table}.{definition.split()[0]}"
        if comment:
            op.execute(f"COMMENT ON {named} IS '{comment.replace(chr(39), chr(39) * 2)}'")
