// Every entity of the schema, as the explicit array that a DataSource needs. Defaults are written for the schema `rhythm`; only migrations create tables.

import { ClaimEntity } from './claim.entity.js';
import { CompletionTokenEntity } from './completion-token.entity.js';
import { ExecutionEntity } from './execution.entity.js';
import { HistoryEntity } from './history.entity.js';
import { InboxEntity } from './inbox.entity.js';
import { MarkedExecutionEntity } from './marked-execution.entity.js';
import { ResumeGroupEntity } from './resume-group.entity.js';
import { ScheduledQueueEntity } from './scheduled-queue.entity.js';
import { SchemaInfoEntity } from './schema-info.entity.js';
import { SignalEntity } from './signal.entity.js';
import { WorkQueueEntity } from './work-queue.entity.js';
import { WorkerHeartbeatEntity } from './worker-heartbeat.entity.js';
import { WorkflowDefinitionEntity } from './workflow-definition.entity.js';
import { WorkflowExecutionContextEntity } from './workflow-execution-context.entity.js';
import { WorkflowProgramEntity } from './workflow-program.entity.js';

/** The entities of Rhythm's own DataSource. */
export const entities = [
  ExecutionEntity,
  WorkQueueEntity,
  ScheduledQueueEntity,
  InboxEntity,
  SignalEntity,
  ClaimEntity,
  ResumeGroupEntity,
  WorkflowDefinitionEntity,
  WorkflowProgramEntity,
  WorkflowExecutionContextEntity,
  WorkerHeartbeatEntity,
  MarkedExecutionEntity,
  HistoryEntity,
  CompletionTokenEntity,
  SchemaInfoEntity,
];
