// The workflows of this process: compiled, by name, each with the hash of its source as its version.

import { createHash } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { compile, type FlowAllowList, type FlowLimits, FlowSyntaxError, type Program, renderDiagnostic } from '../../libs/flow/index.js';
import type { FailureHandler } from '../check-argument.js';
import { ConfigurationError } from '../errors.js';
import { listNames } from '../nearest.js';
import type { NamedSource } from './flow-source.js';

/** A workflow of this process. */
export interface LoadedFlow {
  readonly name: string;
  /** SHA-256 of the source. */
  readonly version: string;
  readonly source: string;
  readonly file: string;
  readonly program: Program;
  readonly allow: FlowAllowList | undefined;
  /** Its turns run in a process of their own. */
  readonly isolate: boolean;
  readonly onFailure?: FailureHandler;
}

/** The workflows of this process, by name. */
@Injectable()
export class FlowRegistry {
  private readonly flows = new Map<string, LoadedFlow>();
  private readonly logger = new Logger('Rhythm');

  /** Compiles and keeps flows; every file with an error is reported, not only the first. */
  load(sources: readonly NamedSource[], limits: Partial<FlowLimits>): void {
    const problems: string[] = [];
    for (const given of sources) {
      const { name, source, file } = given;
      const other = this.flows.get(name);
      if (other) {
        // The same file listed by two modules is one workflow.
        if (other.source === source && other.file === file) continue;
        problems.push(`Two workflows are named "${name}": ${other.file} and ${file}. Rename one of them.`);
        continue;
      }
      try {
        const program = compile(source, { file, limits, onWarning: (warning) => this.logger.warn(renderDiagnostic(warning)) });
        this.flows.set(name, { ...given, version: versionOf(source), program });
      } catch (error) {
        if (!(error instanceof FlowSyntaxError)) throw error;
        problems.push(error.message);
      }
    }
    if (problems.length) {
      throw new ConfigurationError(`${problems.join('\n\n')}\n\nWorkflows that loaded: ${listNames(this.names())}.`, 'RHYTHM_FLOW_INVALID');
    }
  }

  get(name: string): LoadedFlow | undefined {
    return this.flows.get(name);
  }

  names(): string[] {
    return [...this.flows.keys()];
  }

  all(): LoadedFlow[] {
    return [...this.flows.values()];
  }
}

/** The version of a source: its SHA-256, in hex. */
export function versionOf(source: string): string {
  return createHash('sha256').update(source).digest('hex');
}
