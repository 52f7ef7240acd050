// The shop's own tables: orders, stock, and the ledger, in which every effect of a task is one row.

import { Column, CreateDateColumn, Entity, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';

export interface OrderItem {
  sku: string;
  price: number;
  quantity: number;
}

export interface Customer {
  email: string;
  address: { street: string; city: string; zip: string };
}

@Entity('orders')
export class Order {
  @PrimaryColumn({ type: 'text' })
  id!: string;

  @Column({ type: 'jsonb' })
  customer!: Customer;

  @Column({ type: 'jsonb' })
  items!: OrderItem[];

  @Column({ type: 'text', default: 'placed' })
  status!: string;

  @Column({ type: 'text', nullable: true })
  tracking!: string | null;

  @Column({ type: 'text', nullable: true })
  reason!: string | null;

  @CreateDateColumn({ type: 'timestamptz' })
  createdAt!: Date;
}

/** One row per effect. There is deliberately no unique constraint, so that a task that takes effect twice leaves two rows. */
@Entity('ledger')
export class LedgerEntry {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ type: 'text' })
  orderId!: string;

  @Column({ type: 'text' })
  kind!: string;

  @Column({ type: 'numeric', nullable: true })
  amount!: string | null;
}

@Entity('stock')
export class Stock {
  @PrimaryColumn({ type: 'text' })
  sku!: string;

  @Column({ type: 'integer' })
  available!: number;
}
