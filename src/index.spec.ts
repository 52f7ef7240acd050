// The names that the package exports: a new one is a decision, not an accident.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';
import * as entry from './index.js';

const CLASSES_AND_FUNCTIONS = [
  'CompletionBusyError',
  'CompletionService',
  'CompletionTokenError',
  'ConfigurationError',
  'DatabaseUnreachableError',
  'DefinitionService',
  'EmbeddedPostgresError',
  'EraseRefusedError',
  'ExecutionCancelledError',
  'ExecutionConflictError',
  'ExecutionFailedError',
  'ExecutionNotFoundError',
  'ExecutionService',
  'ExecutionStateError',
  'FileSnapshotStore',
  'InjectRhythm',
  'InvalidArgumentError',
  'NonRetryableError',
  'QueueFullError',
  'ResultExpiredError',
  'ResultTimeoutError',
  'RhythmError',
  'RhythmEvents',
  'RhythmExceptionFilter',
  'RhythmExecutionContext',
  'RhythmModule',
  'SchedulerService',
  'SignalService',
  'SignalToTaskError',
  'SnapshotNotKeptError',
  'StartContendedError',
  'Task',
  'TaskCtx',
  'TaskInput',
  'TooManySignalsError',
  'UnknownNameError',
  'WorkerHost',
  'getRhythmToken',
  'loadSettings',
  'startEmbedded',
];

const TYPES = [
  'CompletionFailure',
  'ConflictPolicy',
  'Duration',
  'EmbeddedOptions',
  'EmbeddedServer',
  'EngineEvent',
  'EngineEventType',
  'Erased',
  'ErrorFacts',
  'Execution',
  'ExecutionFacts',
  'ExecutionStatus',
  'ExecutionTree',
  'FailureHandler',
  'FlowAllowList',
  'FlowSource',
  'FlowSourceOptions',
  'GlobalEnhancers',
  'HistoryEntry',
  'InspectOptions',
  'InspectedBranch',
  'InspectedFrame',
  'Inspection',
  'KeptSnapshot',
  'KeptSnapshotCall',
  'ListOptions',
  'ListPage',
  'LoadedSettings',
  'LoopStatus',
  'PendingDescription',
  'QueueOptions',
  'QueueStatus',
  'RestartOptions',
  'ResultOptions',
  'RhythmContextType',
  'RhythmErrorBody',
  'RhythmFeatureOptions',
  'RhythmModuleAsyncOptions',
  'RhythmModuleExtras',
  'RhythmModuleOptions',
  'RhythmOptionsFactory',
  'RhythmSettings',
  'SchemaIssue',
  'SchemaResult',
  'SentSignal',
  'SettingOptions',
  'SettingReport',
  'SettingsOrigin',
  'SignalOptions',
  'SnapshotStore',
  'StandardSchema',
  'StartOptions',
  'StartRequest',
  'StartRetryOptions',
  'StartedExecution',
  'StoredError',
  'SystemStatus',
  'TaskContext',
  'TaskLogger',
  'TaskOptions',
  'TaskRetryOptions',
  'UnservedTask',
  'WaitingCount',
  'WaitingKind',
  'WaitingOptions',
  'WaitsFor',
  'WorkerStatus',
  'WorkflowVersion',
];

describe('the entry point of the package', () => {
  it('exports these classes and functions', () => {
    expect(Object.keys(entry).sort()).toEqual(CLASSES_AND_FUNCTIONS);
  });

  it('exports these types besides, and everything by name', () => {
    const source = ts.createSourceFile('index.ts', readFileSync('src/index.ts', 'utf8'), ts.ScriptTarget.Latest);
    const names = source.statements.flatMap((statement) => {
      if (!ts.isExportDeclaration(statement) || !statement.exportClause || !ts.isNamedExports(statement.exportClause)) return ['*'];
      return statement.exportClause.elements.map(({ name }) => name.text);
    });
    expect(names.filter((name) => !CLASSES_AND_FUNCTIONS.includes(name)).sort()).toEqual(TYPES);
  });
});
