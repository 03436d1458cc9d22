CREATE TABLE repositories (
	id INTEGER NOT NULL,
	"key" TEXT NOT NULL,
	CONSTRAINT pk_repositories PRIMARY KEY (id),
	CONSTRAINT uq_repositories_key UNIQUE ("key")
);
CREATE TABLE release_scores (
	repository TEXT NOT NULL,
	release TEXT NOT NULL,
	published_at DATETIME NOT NULL,
	body JSON NOT NULL,
	scored_at DATETIME NOT NULL,
	CONSTRAINT pk_release_scores PRIMARY KEY (repository, release)
);
CREATE TABLE spending (
	date DATE NOT NULL,
	purpose TEXT NOT NULL,
	spent_usd FLOAT NOT NULL,
	CONSTRAINT pk_spending PRIMARY KEY (date, purpose)
);
CREATE TABLE reservations (
	id TEXT NOT NULL,
	date DATE NOT NULL,
	purpose TEXT NOT NULL,
	usd FLOAT NOT NULL,
	made_at DATETIME NOT NULL,
	CONSTRAINT pk_reservations PRIMARY KEY (id)
);
CREATE TABLE subscriptions (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
	channel TEXT NOT NULL,
	repository TEXT NOT NULL,
	paths TEXT DEFAULT '' NOT NULL,
	least TEXT DEFAULT 'low' NOT NULL,
	user TEXT DEFAULT '' NOT NULL,
	time TEXT NOT NULL,
	timezone TEXT NOT NULL,
	language TEXT NOT NULL,
	created_at DATETIME NOT NULL,
	started_to DATE,
	note TEXT DEFAULT '' NOT NULL,
	ended_at DATETIME,
	watch TEXT DEFAULT '' NOT NULL,
	downstream TEXT DEFAULT '' NOT NULL,
	weekly TEXT DEFAULT '' NOT NULL,
	weekly_to DATE,
	releases TEXT DEFAULT '' NOT NULL,
	releases_since DATETIME,
	released_to TEXT DEFAULT '' NOT NULL,
	days TEXT DEFAULT '' NOT NULL,
	quiet BOOLEAN DEFAULT 0 NOT NULL,
	quiet_days INTEGER DEFAULT '0' NOT NULL,
	quiet_to DATE,
	CONSTRAINT uq_subscriptions_channel_repository_paths UNIQUE (channel, repository, paths)
);
CREATE TABLE seen_releases (
	repository TEXT NOT NULL,
	tag TEXT NOT NULL,
	seen_at DATETIME,
	CONSTRAINT pk_seen_releases PRIMARY KEY (repository, tag)
);
CREATE TABLE alerts (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
	user TEXT NOT NULL,
	channel TEXT NOT NULL,
	repository TEXT NOT NULL,
	event TEXT NOT NULL,
	subject TEXT NOT NULL,
	title TEXT NOT NULL,
	url TEXT NOT NULL,
	sha TEXT,
	message JSON,
	asked_at DATETIME NOT NULL,
	checked_at DATETIME NOT NULL,
	ended_at DATETIME,
	CONSTRAINT uq_alerts_user_repository_subject_event UNIQUE (user, repository, subject, event)
);
CREATE TABLE labels (
	repository TEXT NOT NULL,
	sha TEXT NOT NULL,
	user TEXT NOT NULL,
	verdict TEXT NOT NULL,
	importance TEXT NOT NULL,
	given_at DATETIME NOT NULL,
	channel TEXT DEFAULT '' NOT NULL,
	CONSTRAINT pk_labels PRIMARY KEY (repository, sha, user)
);
CREATE TABLE answer_ratings (
	channel TEXT NOT NULL,
	ts TEXT NOT NULL,
	user TEXT NOT NULL,
	about TEXT NOT NULL,
	rating TEXT NOT NULL,
	given_at DATETIME NOT NULL,
	CONSTRAINT pk_answer_ratings PRIMARY KEY (channel, ts, user)
);
CREATE TABLE model_failures (
	model TEXT NOT NULL,
	reasons JSON NOT NULL,
	failed_at DATETIME NOT NULL,
	CONSTRAINT pk_model_failures PRIMARY KEY (model)
);
CREATE TABLE surfaces (
	id INTEGER NOT NULL,
	repository TEXT NOT NULL,
	tree TEXT NOT NULL,
	packages TEXT NOT NULL,
	version INTEGER NOT NULL,
	body BLOB NOT NULL,
	read_at DATETIME NOT NULL,
	CONSTRAINT pk_surfaces PRIMARY KEY (id),
	CONSTRAINT uq_surfaces_repository_tree_packages_version UNIQUE (repository, tree, packages, version)
);
CREATE TABLE breaks (
	channel TEXT NOT NULL,
	repository TEXT NOT NULL,
	sha TEXT NOT NULL,
	downstream TEXT NOT NULL,
	name TEXT NOT NULL,
	paths JSON NOT NULL,
	head TEXT NOT NULL,
	state TEXT NOT NULL,
	who TEXT DEFAULT '' NOT NULL,
	until DATE,
	by_commit TEXT DEFAULT '' NOT NULL,
	updated_at DATETIME NOT NULL,
	CONSTRAINT pk_breaks PRIMARY KEY (channel, repository, sha, downstream, name)
);
CREATE TABLE inbox (
	"key" TEXT NOT NULL,
	body JSON NOT NULL,
	received_at DATETIME NOT NULL,
	done_at DATETIME,
	CONSTRAINT pk_inbox PRIMARY KEY ("key")
);
CREATE INDEX ix_inbox_done_at ON inbox (done_at);
CREATE TABLE ongoing_answers (
	request TEXT NOT NULL,
	channel TEXT NOT NULL,
	thread_ts TEXT NOT NULL,
	attempt TEXT,
	begun_at DATETIME NOT NULL,
	is_stopped BOOLEAN NOT NULL,
	CONSTRAINT pk_ongoing_answers PRIMARY KEY (request)
);
CREATE TABLE outbox (
	"key" TEXT NOT NULL,
	channel TEXT NOT NULL,
	thread_ts TEXT,
	root TEXT,
	about TEXT DEFAULT '' NOT NULL,
	content JSON NOT NULL,
	state TEXT NOT NULL,
	tried_at DATETIME,
	ts TEXT,
	file_id TEXT,
	note TEXT DEFAULT '' NOT NULL,
	edits JSON,
	CONSTRAINT pk_outbox PRIMARY KEY ("key")
);
CREATE INDEX ix_outbox_channel_ts ON outbox (channel, ts);
CREATE TABLE duplicates (
	channel TEXT NOT NULL,
	ts TEXT NOT NULL,
	"key" TEXT NOT NULL,
	CONSTRAINT pk_duplicates PRIMARY KEY (channel, ts)
);
CREATE TABLE threads (
	channel TEXT NOT NULL,
	ts TEXT NOT NULL,
	about TEXT NOT NULL,
	CONSTRAINT pk_threads PRIMARY KEY (channel, ts)
);
CREATE TABLE turns (
	name TEXT NOT NULL,
	free_at DATETIME NOT NULL,
	CONSTRAINT pk_turns PRIMARY KEY (name)
);
CREATE TABLE publications (
	day TEXT NOT NULL,
	target TEXT NOT NULL,
	failure TEXT NOT NULL,
	tried_at DATETIME NOT NULL,
	CONSTRAINT pk_publications PRIMARY KEY (day, target)
);
CREATE TABLE executors (
	id TEXT NOT NULL,
	host TEXT NOT NULL,
	pid INTEGER NOT NULL,
	command TEXT NOT NULL,
	version TEXT NOT NULL,
	schema_version TEXT NOT NULL,
	started_at DATETIME NOT NULL,
	seen_at DATETIME NOT NULL,
	ended_at DATETIME,
	CONSTRAINT pk_executors PRIMARY KEY (id)
);
CREATE TABLE commits (
	id INTEGER NOT NULL,
	repository_id INTEGER NOT NULL,
	sha TEXT NOT NULL,
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
	facts_proof TEXT DEFAULT 'patch' NOT NULL,
	series TEXT,
	reverts_sha TEXT,
	reverts_title TEXT,
	words_version INTEGER DEFAULT '0' NOT NULL,
	words_are_all BOOLEAN,
	CONSTRAINT pk_commits PRIMARY KEY (id),
	CONSTRAINT uq_commits_repository_id_sha UNIQUE (repository_id, sha),
	CONSTRAINT fk_commits_repository_id FOREIGN KEY(repository_id) REFERENCES repositories (id)
);
CREATE INDEX ix_commits_repository_id_title ON commits (repository_id, title);
CREATE INDEX ix_commits_repository_id_series ON commits (repository_id, series);
CREATE INDEX ix_commits_words_version ON commits (words_version);
CREATE INDEX ix_commits_repository_id_words_are_all ON commits (repository_id, words_are_all);
CREATE INDEX ix_commits_repository_id_reverts_sha ON commits (repository_id, reverts_sha);
CREATE INDEX ix_commits_repository_id_reverts_title ON commits (repository_id, reverts_title);
CREATE INDEX ix_commits_repository_id_committed_at ON commits (repository_id, committed_at);
CREATE INDEX ix_commits_sha ON commits (sha);
CREATE INDEX ix_commits_repository_id_pr ON commits (repository_id, pr);
CREATE TABLE days (
	id INTEGER NOT NULL,
	repository_id INTEGER NOT NULL,
	date DATE NOT NULL,
	timezone TEXT NOT NULL,
	listed_at DATETIME NOT NULL,
	remarks JSON NOT NULL,
	read_from TEXT DEFAULT 'api' NOT NULL,
	CONSTRAINT pk_days PRIMARY KEY (id),
	CONSTRAINT uq_days_repository_id_date_timezone UNIQUE (repository_id, date, timezone),
	CONSTRAINT fk_days_repository_id FOREIGN KEY(repository_id) REFERENCES repositories (id)
);
CREATE TABLE named (
	commit_id INTEGER NOT NULL,
	tie TEXT NOT NULL,
	name TEXT NOT NULL,
	CONSTRAINT pk_named PRIMARY KEY (commit_id, tie, name),
	CONSTRAINT fk_named_commit_id FOREIGN KEY(commit_id) REFERENCES commits (id) ON DELETE CASCADE
);
CREATE INDEX ix_named_name ON named (name);
CREATE TABLE files (
	commit_id INTEGER NOT NULL,
	position INTEGER NOT NULL,
	path TEXT NOT NULL,
	previous_path TEXT,
	status TEXT NOT NULL,
	additions INTEGER NOT NULL,
	deletions INTEGER NOT NULL,
	patch BLOB,
	CONSTRAINT pk_files PRIMARY KEY (commit_id, position),
	CONSTRAINT fk_files_commit_id FOREIGN KEY(commit_id) REFERENCES commits (id) ON DELETE CASCADE
);
CREATE TABLE analyses (
	commit_id INTEGER NOT NULL,
	language TEXT NOT NULL,
	model TEXT NOT NULL,
	prompt TEXT NOT NULL,
	importance TEXT NOT NULL,
	body JSON NOT NULL,
	move_reason TEXT DEFAULT '' NOT NULL,
	left_out JSON DEFAULT '[]' NOT NULL,
	removed_claims INTEGER DEFAULT '0' NOT NULL,
	calls INTEGER DEFAULT '0' NOT NULL,
	input_tokens INTEGER,
	output_tokens INTEGER,
	cached_tokens INTEGER,
	cost_usd FLOAT,
	CONSTRAINT pk_analyses PRIMARY KEY (commit_id, language, model, prompt),
	CONSTRAINT fk_analyses_commit_id FOREIGN KEY(commit_id) REFERENCES commits (id) ON DELETE CASCADE
);
CREATE TABLE ranks (
	commit_id INTEGER NOT NULL,
	importance TEXT NOT NULL,
	score FLOAT,
	given_at DATETIME,
	CONSTRAINT pk_ranks PRIMARY KEY (commit_id),
	CONSTRAINT fk_ranks_commit_id FOREIGN KEY(commit_id) REFERENCES commits (id) ON DELETE CASCADE
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
CREATE VIRTUAL TABLE commit_search USING fts5(title, message, paths, code, summary, tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3');
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL,
	oldest_program VARCHAR(32),
	PRIMARY KEY (version_num)
);
INSERT INTO alembic_version VALUES ('0026', '0022');
