<?php
defined( 'ABSPATH' ) || exit;

/** Lets one process at a time do something. Names of options are unique in the database. */
class Till_Lock {
	/** Seconds that a process waits for its turn; Till gives up a delivery after 15. */
	const WAIT_SECONDS = 8;
	/** Seconds after which the lock of a process that died is taken over: longer than all calls of a purchase to a slow Till. */
	const LOCK_SECONDS = 300;
	/** Microseconds between two attempts. */
	const PAUSE_MICROSECONDS = 50000;

	/** @var array<string,string> The values of this process's locks, by their names. */
	private static $held = array();
	private static $is_registered = false;

	/**
	 * Calls a function while no other process holds the lock, and returns its result.
	 *
	 * @throws Till_Problem `busy` if other processes held it all the time.
	 */
	public static function hold( $name, callable $call ) {
		if ( isset( self::$held[ $name ] ) ) {
			return $call();
		}
		// A customer who closes the page must not leave a half changed order.
		$ignored = ignore_user_abort( true );
		self::acquire( $name );
		try {
			return $call();
		} finally {
			self::release( $name );
			ignore_user_abort( (bool) $ignored );
		}
	}

	private static function acquire( $name ) {
		$value = sprintf( '%d %s', time(), wp_generate_password( 12, false ) );
		$until = microtime( true ) + self::WAIT_SECONDS;
		while ( ! self::take( $name, $value ) ) {
			if ( microtime( true ) > $until ) {
				throw new Till_Problem( 'busy', "Another process holds $name." );
			}
			usleep( self::PAUSE_MICROSECONDS );
		}
		self::$held[ $name ] = $value;
		if ( ! self::$is_registered ) {
			// `finally` is left out where a function calls exit, or PHP stops the script.
			register_shutdown_function( array( __CLASS__, 'release_all' ) );
			self::$is_registered = true;
		}
	}

	private static function take( $name, $value ) {
		global $wpdb;
		// A row is inserted only if there is none, because many inserts of one key that wait for each other are a deadlock
		// to the database. It ends all of them but one; to the others, the lock is held.
		$held = (string) $wpdb->get_var( $wpdb->prepare( "SELECT option_value FROM {$wpdb->options} WHERE option_name = %s", $name ) );
		if ( '' === $held ) {
			$query = $wpdb->prepare( "INSERT IGNORE INTO {$wpdb->options} (option_name, option_value, autoload) VALUES (%s, %s, 'no')", $name, $value );
		} elseif ( time() - (int) $held > self::LOCK_SECONDS ) {
			$query = $wpdb->prepare( "UPDATE {$wpdb->options} SET option_value = %s WHERE option_name = %s AND option_value = %s", $value, $name, $held );
		} else {
			return false;
		}
		$suppressed = $wpdb->suppress_errors( true );
		$changed    = $wpdb->query( $query );
		$wpdb->suppress_errors( $suppressed );
		return 1 === $changed;
	}

	/** Returns true while any process holds a lock, unless that process died. */
	public static function is_any_held() {
		global $wpdb;
		// Values begin with the time, whose digits are in order as text too.
		$query = "SELECT option_name FROM {$wpdb->options} WHERE option_name LIKE %s AND option_value > %s LIMIT 1";
		return null !== $wpdb->get_var( $wpdb->prepare( $query, $wpdb->esc_like( 'till_lock_' ) . '%', (string) ( time() - self::LOCK_SECONDS ) ) );
	}

	private static function release( $name ) {
		global $wpdb;
		$delete = "DELETE FROM {$wpdb->options} WHERE option_name = %s AND option_value = %s";
		$wpdb->query( $wpdb->prepare( $delete, $name, self::$held[ $name ] ) );
		unset( self::$held[ $name ] );
	}

	public static function release_all() {
		foreach ( array_keys( self::$held ) as $name ) {
			self::release( $name );
		}
	}
}
