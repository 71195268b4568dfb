CREATE TABLE "experiments" (
	experiment_id INTEGER NOT NULL, 
	name VARCHAR(256) NOT NULL, 
	artifact_location VARCHAR(256), 
	lifecycle_stage VARCHAR(32), 
	creation_time BIGINT, 
	last_update_time BIGINT, 
	workspace VARCHAR(63) DEFAULT 'default' NOT NULL, 
	CONSTRAINT experiment_pk PRIMARY KEY (experiment_id), 
	CONSTRAINT experiments_lifecycle_stage CHECK (lifecycle_stage IN ('active', 'deleted')), 
	CONSTRAINT uq_experiments_workspace_name UNIQUE (workspace, name)
);
INSERT INTO "experiments" VALUES(0,'Default','/home/somebody/mlruns/0','active',1795516831536,1795516831536,'default');
INSERT INTO "experiments" VALUES(1,'window-by-ratio','/home/somebody/mlruns/1','active',1795516831552,1795516831552,'default');
CREATE TABLE "latest_metrics" (
	"key" VARCHAR(250) NOT NULL, 
	value FLOAT NOT NULL, 
	timestamp BIGINT, 
	step BIGINT NOT NULL, 
	is_nan BOOLEAN NOT NULL, 
	run_uuid VARCHAR(32) NOT NULL, 
	CONSTRAINT latest_metric_pk PRIMARY KEY ("key", run_uuid), 
	FOREIGN KEY(run_uuid) REFERENCES runs (run_uuid), 
	CHECK (is_nan IN (0, 1))
);
INSERT INTO "latest_metrics" VALUES('accuracy',0.75,1795516831818,2,0,'c10dd7e879e340a48810f0a157d9c712');
INSERT INTO "latest_metrics" VALUES('loss',0.0,1795516831828,2,1,'c10dd7e879e340a48810f0a157d9c712');
INSERT INTO "latest_metrics" VALUES('loss2',1.25,1795516831834,0,0,'c10dd7e879e340a48810f0a157d9c712');
INSERT INTO "latest_metrics" VALUES('accuracy',0.25,1795516831850,0,0,'59ef2ef7ef064621bf308d2d2fa23d1c');
INSERT INTO "latest_metrics" VALUES('accuracy',0.1,1795516831871,0,0,'2246d6490ab34b4fb531cc70e86e323a');
INSERT INTO "latest_metrics" VALUES('accuracy',0.2,1795516831890,0,0,'ffbc3a9ca70643c68cc253e7c098f964');
CREATE TABLE "params" (
	"key" VARCHAR(250) NOT NULL, 
	value VARCHAR(8000) NOT NULL, 
	run_uuid VARCHAR(32) NOT NULL, 
	CONSTRAINT param_pk PRIMARY KEY ("key", run_uuid), 
	FOREIGN KEY(run_uuid) REFERENCES runs (run_uuid)
);
INSERT INTO "params" VALUES('model','R1-Qwen','c10dd7e879e340a48810f0a157d9c712');
INSERT INTO "params" VALUES('dataset','AMC23','c10dd7e879e340a48810f0a157d9c712');
INSERT INTO "params" VALUES('lr','0.1','c10dd7e879e340a48810f0a157d9c712');
CREATE TABLE "runs" (
	run_uuid VARCHAR(32) NOT NULL, 
	name VARCHAR(250), 
	source_type VARCHAR(20), 
	source_name VARCHAR(500), 
	entry_point_name VARCHAR(50), 
	user_id VARCHAR(256), 
	status VARCHAR(9), 
	start_time BIGINT, 
	end_time BIGINT, 
	source_version VARCHAR(50), 
	lifecycle_stage VARCHAR(20), 
	artifact_uri VARCHAR(200), 
	experiment_id INTEGER, deleted_time BIGINT, 
	CONSTRAINT run_pk PRIMARY KEY (run_uuid), 
	CONSTRAINT source_type CHECK (source_type IN ('NOTEBOOK', 'JOB', 'LOCAL', 'UNKNOWN', 'PROJECT')), 
	CONSTRAINT runs_lifecycle_stage CHECK (lifecycle_stage IN ('active', 'deleted')), 
	FOREIGN KEY(experiment_id) REFERENCES experiments (experiment_id), 
	CHECK (status IN ('SCHEDULED', 'FAILED', 'FINISHED', 'RUNNING', 'KILLED'))
);
INSERT INTO "runs" VALUES('c10dd7e879e340a48810f0a157d9c712','first','UNKNOWN','','','somebody','FINISHED',1795516831723,1795516831837,'','active','/home/somebody/mlruns/1/c10dd7e879e340a48810f0a157d9c712/artifacts',1,NULL);
INSERT INTO "runs" VALUES('59ef2ef7ef064621bf308d2d2fa23d1c','unnamed-model','UNKNOWN','','','somebody','FINISHED',1795516831843,1795516831856,'','active','/home/somebody/mlruns/1/59ef2ef7ef064621bf308d2d2fa23d1c/artifacts',1,NULL);
INSERT INTO "runs" VALUES('2246d6490ab34b4fb531cc70e86e323a','crashed','UNKNOWN','','','somebody','FAILED',1795516831862,1795516831876,'','active','/home/somebody/mlruns/1/2246d6490ab34b4fb531cc70e86e323a/artifacts',1,NULL);
INSERT INTO "runs" VALUES('ffbc3a9ca70643c68cc253e7c098f964','deleted','UNKNOWN','','','somebody','FINISHED',1795516831882,1795516831896,'','deleted','/home/somebody/mlruns/1/ffbc3a9ca70643c68cc253e7c098f964/artifacts',1,1795516831904);
CREATE TABLE "tags" (
	"key" VARCHAR(250) NOT NULL, 
	value VARCHAR(8000), 
	run_uuid VARCHAR(32) NOT NULL, 
	CONSTRAINT tag_pk PRIMARY KEY ("key", run_uuid), 
	FOREIGN KEY(run_uuid) REFERENCES runs (run_uuid)
);
INSERT INTO "tags" VALUES('mlflow.runName','first','c10dd7e879e340a48810f0a157d9c712');
INSERT INTO "tags" VALUES('mlflow.runName','unnamed-model','59ef2ef7ef064621bf308d2d2fa23d1c');
INSERT INTO "tags" VALUES('mlflow.runName','crashed','2246d6490ab34b4fb531cc70e86e323a');
INSERT INTO "tags" VALUES('mlflow.runName','deleted','ffbc3a9ca70643c68cc253e7c098f964');
