// Every entity of the schema, as the explicit array that a DataSource needs. Defaults are written for the schema `rhythm`; only migrations create tables.

import { ClaimEntity } from './claim.js';
import { CompletionTokenEntity } from './completion-token.js';
import { DiscardedSnapshotEntity } from './discarded-snapshot.js';
import { ExecutionEntity } from './execution.js';
import { HistoryEntity } from './history.js';
import { InboxEntity } from './inbox.js';
import { KeptSnapshotEntity } from './kept-snapshot.js';
import { MarkedExecutionEntity } from './marked-execution.js';
import { ResumeGroupEntity } from './resume-group.js';
import { RetentionWalkEntity } from './retention-walk.js';
import { ScheduledQueueEntity } from './scheduled-queue.js';
import { SchemaInfoEntity } from './schema-info.js';
import { SignalEntity } from './signal.js';
import { StepEntity } from './step.js';
import { TombstoneEntity } from './tombstone.js';
import { WaitingEntity } from './waiting.js';
import { WorkQueueEntity } from './work-queue.js';
import { WorkerHeartbeatEntity } from './worker-heartbeat.js';
import { WorkflowDefinitionEntity } from './workflow-definition.js';
import { WorkflowProgramEntity } from './workflow-program.js';

/** The entities of Rhythm's own DataSource. */
export const entities = [
  ExecutionEntity,
  StepEntity,
  KeptSnapshotEntity,
  WorkQueueEntity,
  ScheduledQueueEntity,
  InboxEntity,
  SignalEntity,
  WaitingEntity,
  ClaimEntity,
  ResumeGroupEntity,
  WorkflowDefinitionEntity,
  WorkflowProgramEntity,
  WorkerHeartbeatEntity,
  MarkedExecutionEntity,
  HistoryEntity,
  CompletionTokenEntity,
  TombstoneEntity,
  DiscardedSnapshotEntity,
  RetentionWalkEntity,
  SchemaInfoEntity,
];
