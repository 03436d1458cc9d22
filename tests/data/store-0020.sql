CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, oldest_program VARCHAR(32),
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
CREATE TABLE repositories (
	id INTEGER NOT NULL,
	"key" VARCHAR(300) NOT NULL,
	CONSTRAINT pk_repositories PRIMARY KEY (id),
	CONSTRAINT uq_repositories_key UNIQUE ("key")
);
CREATE TABLE commits (
	id INTEGER NOT NULL,
	repository_id INTEGER NOT NULL,
	sha VARCHAR(64) NOT NULL,
	url TEXT NOT NULL,
	parents JSON NOT NULL,
	author TEXT NOT NULL,
	authored_at DATETIME NOT NULL,
	committed_at DATETIME NOT NULL,
	message TEXT NOT NULL,
	title TEXT NOT NULL,
	additions INTEGER NOT NULL,
	deletions INTEGER NOT NULL,
	not_on TEXT,
	read BOOLEAN NOT NULL,
	pr INTEGER,
	pull JSON,
	facts JSON NOT NULL,
	facts_version INTEGER NOT NULL,
	series TEXT,
	reverts_sha VARCHAR(64),
	reverts_title TEXT, facts_proof VARCHAR(8) DEFAULT 'patch' NOT NULL, words_version INTEGER DEFAULT '0' NOT NULL, words_are_all BOOLEAN,
	CONSTRAINT pk_commits PRIMARY KEY (id),
	CONSTRAINT uq_commits_repository_id_sha UNIQUE (repository_id, sha),
	CONSTRAINT fk_commits_repository_id FOREIGN KEY(repository_id) REFERENCES repositories (id)
);
CREATE INDEX ix_commits_sha ON commits (sha);
CREATE INDEX ix_commits_repository_id_pr ON commits (repository_id, pr);
CREATE INDEX ix_commits_repository_id_title ON commits (repository_id, title);
CREATE INDEX ix_commits_repository_id_series ON commits (repository_id, series);
CREATE INDEX ix_commits_repository_id_reverts_sha ON commits (repository_id, reverts_sha);
CREATE INDEX ix_commits_repository_id_reverts_title ON commits (repository_id, reverts_title);
CREATE TABLE files (
	commit_id INTEGER NOT NULL,
	position INTEGER NOT NULL,
	path TEXT NOT NULL,
	previous_path TEXT,
	status VARCHAR(20) NOT NULL,
	additions INTEGER NOT NULL,
	deletions INTEGER NOT NULL,
	patch BLOB,
	CONSTRAINT pk_files PRIMARY KEY (commit_id, position),
	CONSTRAINT fk_files_commit_id FOREIGN KEY(commit_id) REFERENCES commits (id) ON DELETE CASCADE
);
CREATE TABLE analyses (
	commit_id INTEGER NOT NULL,
	language VARCHAR(2) NOT NULL,
	model VARCHAR(200) NOT NULL,
	prompt VARCHAR(40) NOT NULL,
	importance VARCHAR(6) NOT NULL,
	body JSON NOT NULL, move_reason TEXT DEFAULT '' NOT NULL, left_out JSON DEFAULT '[]' NOT NULL, removed_claims INTEGER DEFAULT '0' NOT NULL, calls INTEGER DEFAULT '0' NOT NULL, input_tokens INTEGER, output_tokens INTEGER, cached_tokens INTEGER, cost_usd FLOAT,
	CONSTRAINT pk_analyses PRIMARY KEY (commit_id, language, model, prompt),
	CONSTRAINT fk_analyses_commit_id FOREIGN KEY(commit_id) REFERENCES commits (id) ON DELETE CASCADE
);
CREATE TABLE days (
	id INTEGER NOT NULL,
	repository_id INTEGER NOT NULL,
	date DATE NOT NULL,
	timezone VARCHAR(64) NOT NULL,
	listed_at DATETIME NOT NULL,
	remarks JSON NOT NULL, read_from VARCHAR(24) DEFAULT 'api' NOT NULL,
	CONSTRAINT pk_days PRIMARY KEY (id),
	CONSTRAINT uq_days_repository_id_date_timezone UNIQUE (repository_id, date, timezone),
	CONSTRAINT fk_days_repository_id FOREIGN KEY(repository_id) REFERENCES repositories (id)
);
CREATE TABLE day_commits (
	day_id INTEGER NOT NULL,
	position INTEGER NOT NULL,
	commit_id INTEGER NOT NULL,
	late BOOLEAN NOT NULL,
	CONSTRAINT pk_day_commits PRIMARY KEY (day_id, position),
	CONSTRAINT fk_day_commits_day_id FOREIGN KEY(day_id) REFERENCES days (id) ON DELETE CASCADE,
	CONSTRAINT fk_day_commits_commit_id FOREIGN KEY(commit_id) REFERENCES commits (id)
);
CREATE INDEX ix_day_commits_commit_id ON day_commits (commit_id);
CREATE TABLE inbox (
	"key" VARCHAR(200) NOT NULL,
	body JSON NOT NULL,
	received_at DATETIME NOT NULL,
	done_at DATETIME,
	CONSTRAINT pk_inbox PRIMARY KEY ("key")
);
CREATE INDEX ix_inbox_done_at ON inbox (done_at);
CREATE TABLE outbox (
	"key" VARCHAR(600) NOT NULL,
	channel VARCHAR(40) NOT NULL,
	thread_ts VARCHAR(40),
	root VARCHAR(600),
	about VARCHAR(600) DEFAULT '' NOT NULL,
	content JSON NOT NULL,
	state VARCHAR(10) NOT NULL,
	tried_at DATETIME,
	ts VARCHAR(40),
	file_id VARCHAR(40),
	note TEXT DEFAULT '' NOT NULL,
	CONSTRAINT pk_outbox PRIMARY KEY ("key")
);
CREATE INDEX ix_outbox_channel_ts ON outbox (channel, ts);
CREATE TABLE threads (
	channel VARCHAR(40) NOT NULL,
	ts VARCHAR(40) NOT NULL,
	about VARCHAR(600) NOT NULL,
	CONSTRAINT pk_threads PRIMARY KEY (channel, ts)
);
CREATE TABLE turns (
	name VARCHAR(60) NOT NULL,
	free_at DATETIME NOT NULL,
	CONSTRAINT pk_turns PRIMARY KEY (name)
);
CREATE TABLE subscriptions (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
	channel VARCHAR(40) NOT NULL,
	repository VARCHAR(300) NOT NULL,
	paths TEXT DEFAULT '' NOT NULL,
	least VARCHAR(6) DEFAULT 'low' NOT NULL,
	user VARCHAR(40) DEFAULT '' NOT NULL,
	time VARCHAR(5) NOT NULL,
	timezone VARCHAR(64) NOT NULL,
	language VARCHAR(2) NOT NULL,
	created_at DATETIME NOT NULL,
	started_to DATE,
	note TEXT DEFAULT '' NOT NULL,
	ended_at DATETIME, watch TEXT DEFAULT '' NOT NULL, downstream TEXT DEFAULT '' NOT NULL, weekly VARCHAR(3) DEFAULT '' NOT NULL, weekly_to DATE,
	CONSTRAINT uq_subscriptions_channel_repository_paths UNIQUE (channel, repository, paths)
);
CREATE TABLE labels (
	repository VARCHAR(300) NOT NULL,
	sha VARCHAR(64) NOT NULL,
	user VARCHAR(40) NOT NULL,
	verdict VARCHAR(8) NOT NULL,
	importance VARCHAR(6) NOT NULL,
	given_at DATETIME NOT NULL,
	CONSTRAINT pk_labels PRIMARY KEY (repository, sha, user)
);
CREATE TABLE spending (
	date DATE NOT NULL,
	purpose VARCHAR(10) NOT NULL,
	reserved_usd FLOAT NOT NULL,
	spent_usd FLOAT NOT NULL,
	CONSTRAINT pk_spending PRIMARY KEY (date, purpose)
);
CREATE TABLE weights (
	repository VARCHAR(300) NOT NULL,
	body JSON NOT NULL,
	fitted_at DATETIME NOT NULL,
	CONSTRAINT pk_weights PRIMARY KEY (repository)
);
CREATE TABLE named (
	commit_id INTEGER NOT NULL,
	tie VARCHAR(8) NOT NULL,
	name VARCHAR(64) NOT NULL,
	CONSTRAINT pk_named PRIMARY KEY (commit_id, tie, name),
	CONSTRAINT fk_named_commit_id FOREIGN KEY(commit_id) REFERENCES commits (id) ON DELETE CASCADE
);
CREATE INDEX ix_named_name ON named (name);
CREATE TABLE surfaces (
	id INTEGER NOT NULL,
	repository VARCHAR(300) NOT NULL,
	tree VARCHAR(64) NOT NULL,
	packages VARCHAR(1000) NOT NULL,
	version INTEGER NOT NULL,
	body BLOB NOT NULL,
	read_at DATETIME NOT NULL,
	CONSTRAINT pk_surfaces PRIMARY KEY (id),
	CONSTRAINT uq_surfaces_repository_tree_packages_version UNIQUE (repository, tree, packages, version)
);
CREATE VIRTUAL TABLE commit_search USING fts5(title, message, paths, code, summary, tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3');
CREATE INDEX ix_commits_words_version ON commits (words_version);
CREATE INDEX ix_commits_repository_id_committed_at ON commits (repository_id, committed_at);
CREATE TABLE answer_ratings (
	channel VARCHAR(40) NOT NULL,
	ts VARCHAR(40) NOT NULL,
	user VARCHAR(40) NOT NULL,
	about VARCHAR(600) NOT NULL,
	rating VARCHAR(10) NOT NULL,
	given_at DATETIME NOT NULL,
	CONSTRAINT pk_answer_ratings PRIMARY KEY (channel, ts, user)
);
CREATE TABLE ranks (
	commit_id INTEGER NOT NULL,
	importance VARCHAR(6) NOT NULL,
	score FLOAT,
	given_at DATETIME,
	CONSTRAINT pk_ranks PRIMARY KEY (commit_id),
	CONSTRAINT fk_ranks_commit_id FOREIGN KEY(commit_id) REFERENCES commits (id) ON DELETE CASCADE
);
CREATE TABLE release_scores (
	repository VARCHAR(300) NOT NULL,
	release VARCHAR(300) NOT NULL,
	published_at DATETIME NOT NULL,
	body JSON NOT NULL,
	scored_at DATETIME NOT NULL,
	CONSTRAINT pk_release_scores PRIMARY KEY (repository, release)
);
CREATE TABLE publications (
	day VARCHAR(600) NOT NULL,
	target VARCHAR(600) NOT NULL,
	failure TEXT NOT NULL,
	tried_at DATETIME NOT NULL,
	CONSTRAINT pk_publications PRIMARY KEY (day, target)
);
CREATE TABLE executors (
	id VARCHAR(300) NOT NULL,
	host VARCHAR(255) NOT NULL,
	pid INTEGER NOT NULL,
	command VARCHAR(20) NOT NULL,
	version VARCHAR(40) NOT NULL,
	schema_version VARCHAR(32) NOT NULL,
	started_at DATETIME NOT NULL,
	seen_at DATETIME NOT NULL,
	ended_at DATETIME,
	CONSTRAINT pk_executors PRIMARY KEY (id)
);
CREATE TABLE duplicates (
	channel VARCHAR(40) NOT NULL,
	ts VARCHAR(40) NOT NULL,
	"key" VARCHAR(600) NOT NULL,
	CONSTRAINT pk_duplicates PRIMARY KEY (channel, ts)
);
CREATE TABLE ongoing_answers (
	request VARCHAR(200) NOT NULL,
	channel VARCHAR(40) NOT NULL,
	thread_ts VARCHAR(40) NOT NULL,
	attempt VARCHAR(32),
	begun_at DATETIME NOT NULL,
	is_stopped BOOLEAN NOT NULL,
	CONSTRAINT pk_ongoing_answers PRIMARY KEY (request)
);
CREATE TABLE model_failures (
	model VARCHAR(200) NOT NULL,
	reasons JSON NOT NULL,
	failed_at DATETIME NOT NULL,
	CONSTRAINT pk_model_failures PRIMARY KEY (model)
);
CREATE TABLE reservations (
	id VARCHAR(16) NOT NULL,
	date DATE NOT NULL,
	purpose VARCHAR(10) NOT NULL,
	usd FLOAT NOT NULL,
	process VARCHAR(40) NOT NULL,
	CONSTRAINT pk_reservations PRIMARY KEY (id)
);
CREATE INDEX ix_commits_repository_id_words_are_all ON commits (repository_id, words_are_all);
INSERT INTO alembic_version VALUES ('0020', '0015');
