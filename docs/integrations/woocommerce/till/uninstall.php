<?php
/**
 * Removes the key and the secret when the plugin is deleted, and what else only it could read. Orders keep their notes
 * and invoices, and the shop keeps its id, in case that the plugin is installed again.
 */
defined( 'WP_UNINSTALL_PLUGIN' ) || exit;

/** Removes them from one site. */
function till_uninstall() {
	global $wpdb;
	$settings = get_option( 'woocommerce_till_settings' );
	if ( is_array( $settings ) ) {
		unset( $settings['api_key'], $settings['webhook_secret'] );
		$settings['enabled'] = 'no';
		update_option( 'woocommerce_till_settings', $settings );
	}
	delete_option( 'till_deliveries' );
	delete_transient( 'till_accepted' );
	delete_transient( 'till_down' );
	$wpdb->query( $wpdb->prepare( "DELETE FROM {$wpdb->options} WHERE option_name LIKE %s", $wpdb->esc_like( 'till_lock_' ) . '%' ) );
}

// The sites of a network share the plugin's files, and each has settings of its own.
$till_sites = is_multisite() ? get_sites( array( 'fields' => 'ids', 'number' => 0 ) ) : array();
foreach ( $till_sites as $till_site ) {
	switch_to_blog( $till_site );
	till_uninstall();
	restore_current_blog();
}
if ( ! is_multisite() ) {
	till_uninstall();
}
