// crate.rs - a program on the crate tracy-client: so many zones, messages, frames and plot values.
// Prints what it emitted.  SPDX-License-Identifier: MIT
use std::thread;
use tracy_client::{frame_name, plot_name, span, Client};

const THREADS: usize = 2;

fn work(turns: usize) {
    let client = Client::running().unwrap();
    client.set_thread_name("worker");
    for turn in 0..turns {
        let outer = span!("outer");
        outer.emit_value(turn as u64);
        {
            let inner = span!("inner");
            if turn % 10 == 0 {
                inner.emit_text("every tenth");
            }
        }
        if turn % 50 == 0 {
            client.message("fifty", 0);
        }
    }
}

fn main() {
    let turns: usize = std::env::args().nth(1).map(|a| a.parse().unwrap()).unwrap_or(500);
    let client = Client::start();
    let threads: Vec<_> = (0..THREADS).map(|_| thread::spawn(move || work(turns))).collect();
    for t in threads {
        t.join().unwrap();
    }
    for value in 0..10 {
        client.plot(plot_name!("values"), value as f64);
        client.frame_mark();
        client.secondary_frame_mark(frame_name!("second"));
    }
    println!(
        "zones {} messages {} frames {} plots {} threads {}",
        THREADS * turns * 2,
        THREADS * ((turns + 49) / 50),
        20,
        10,
        THREADS + 1
    );
}
