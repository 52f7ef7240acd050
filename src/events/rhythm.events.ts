// `RhythmEvents`: what happens in this process, as a provider that logs, metrics and traces subscribe to.

import { Injectable } from '@nestjs/common';
import { EngineEvents } from '../../libs/engine/index.js';

/**
 * The events of this process: `events.subscribe(['finished'], ({ name, status }) => …)`. A process with the role "api" runs no
 * work, so the only event there is `signal-sent`.
 *
 * @publicApi
 */
@Injectable()
export class RhythmEvents extends EngineEvents {}
