// Holds every workflow this process was given: compiled, named, and known by the hash of its text.

import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { compile, type FlowAllowList, type FlowLimits, FlowSyntaxError, type Program } from '../../libs/flow/index.js';
import { ConfigurationError } from '../errors.js';
import { listNames } from '../nearest.js';
import type { FlowText } from './flow-source.js';

/** A workflow of this process. */
export interface LoadedFlow {
  readonly name: string;
  /** SHA-256 of the source. */
  readonly version: string;
  readonly source: string;
  readonly file: string;
  readonly program: Program;
  readonly allow: FlowAllowList | undefined;
}

/** The workflows of this process, by name. */
@Injectable()
export class FlowRegistry {
  private readonly flows = new Map<string, LoadedFlow>();

  /** Compiles and keeps flows; every faulty file is reported, not only the first. */
  load(texts: readonly FlowText[], limits: Partial<FlowLimits>): void {
    const faults: string[] = [];
    for (const text of texts) {
      const twin = this.flows.get(text.name);
      if (twin) {
        // The same file listed by two modules is one workflow.
        if (twin.source === text.source && twin.file === text.file) continue;
        faults.push(`Two workflows are named "${text.name}": ${twin.file} and ${text.file}. Rename one of them.`);
        continue;
      }
      try {
        const program = compile(text.source, { file: text.file, limits });
        this.flows.set(text.name, { ...text, version: versionOf(text.source), program });
      } catch (error) {
        if (!(error instanceof FlowSyntaxError)) throw error;
        faults.push(error.message);
      }
    }
    if (faults.length) {
      throw new ConfigurationError(`${faults.join('\n\n')}\n\nWorkflows that loaded: ${listNames(this.names())}.`, 'RHYTHM_FLOW_INVALID');
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

/** The version of a source text: its SHA-256, in hex. */
export function versionOf(source: string): string {
  return createHash('sha256').update(source).digest('hex');
}
