//! What memory does, proven over the core facade on real engines: one file per noun, every test
//! on every engine.
//!
//! A test is a function over a [`World`](world::World); the list below makes it a test of each
//! engine. One that is not listed is unused code, which the lints refuse.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod access;
mod action;
mod audit;
mod benchmark;
mod canary;
mod citation;
mod context;
mod conversation;
mod decay;
mod edge;
mod engine;
mod entity;
mod episode;
mod erasure;
mod expansion;
mod goal;
mod grant;
mod graph_history;
mod history;
mod idempotency;
mod index;
mod isolation;
mod job;
mod kill;
mod learning;
mod memory;
mod metric;
mod model;
mod node;
mod participant;
mod pattern;
mod place;
mod profile;
mod promotion;
mod recall;
mod relevance;
mod replay;
mod review;
mod rollup;
mod secret;
mod sequence;
mod session;
mod slot;
mod strategy;
mod strategy_learning;
mod supersession;
mod time;
mod timeline;
mod token;
mod tombstone;
mod tool;
mod turn;
mod workspace;
mod world;

macro_rules! behaviour {
    ($engine:ident, open: $open:path $(, cramped: $cramped:path)?) => {
        mod $engine {
            behaviour! { in workspace, $open:
                the_first_start_makes_one_workspace_and_an_operator
                settings_merge_and_survive_reopening
                settings_refuse_what_they_do_not_know_and_stay_as_they_were
                the_toggle_round_trips_through_either_way
                settings_changed_at_the_same_moment_are_all_kept
                everybody_but_operators_sees_only_their_own
                workspaces_are_listed_page_by_page
                a_name_is_taken_until_its_workspace_is_deleted
                a_soft_delete_hides_at_once_and_refuses_tokens
                only_admins_delete_and_only_operators_another_workspace
                a_hard_delete_removes_everything_and_counts_it
                a_hidden_workspace_can_still_be_removed_for_good
                a_hard_delete_outlasts_concurrent_writers
            }
            behaviour! { in conversation, $open:
                turns_come_back_in_order
                every_field_of_a_turn_comes_back
                a_turn_that_is_sent_again_is_the_same_turn
                what_is_wrong_with_a_turn_is_named
                speakers_at_the_same_moment_all_get_their_place
                conversations_are_listed_and_kept_apart
                a_conversation_leads_to_its_turns_and_they_to_each_other
            }
            behaviour! { in context, $open:
                every_layer_is_told_in_its_order
                a_budget_is_kept_and_facts_come_first
                a_late_layer_is_named_and_left_out
                without_a_model_the_passages_answer
            }
            behaviour! { in turn, $open:
                an_answer_is_found_beside_its_question
                words_alone_reach_as_far_as_a_talk_stays_with_them
                what_was_just_said_is_found_by_its_meaning
                turns_stay_within_their_borders
                what_stands_around_turns_is_in_order_and_told_once
                what_is_put_away_is_not_found_until_it_is_spoken_in_again
                what_was_rolled_up_is_found_no_more
                what_fits_goes_first_be_it_a_turn_or_a_memory
                what_shares_only_a_name_goes_behind_what_answers
                what_somebody_said_last_is_found_among_many
                what_is_asked_of_a_time_alone_is_there_if_anything_was_said_then
                an_answer_begins_with_what_fits
                an_explanation_says_how_well_a_memory_fits
            }
            behaviour! { in relevance, $open:
                words_alone_rank_memories_as_their_search_does
                a_word_that_is_asked_twice_counts_twice
                memories_are_weighed_by_their_pieces
                pieces_of_short_and_long_texts_are_compared
                every_share_of_a_memory_can_be_left_out
                what_was_never_told_gets_less_confidence
                what_the_other_one_said_gets_less_confidence
                of_an_empty_memory_nothing_is_expected
            }
            behaviour! { in expansion, $open:
                memories_of_the_time_that_is_asked_about_go_first
                times_are_seen_from_the_moment_that_is_asked_for
                what_became_true_then_counts_whenever_it_was_recorded
                memories_of_that_time_are_found_among_many
                turns_of_the_time_that_is_asked_about_go_first
                words_that_say_when_are_not_searched_for
                the_very_day_goes_before_the_one_beside_it
                what_a_turn_tells_of_that_time_counts
                the_words_of_a_guess_are_searched_for
                the_passage_of_a_guess_moves_the_meaning
                a_guess_tells_the_time_and_the_kind
                without_a_usable_guess_the_rules_serve
            }
            behaviour! { in episode, $open:
                old_turns_become_an_episode
                a_tail_of_one_turn_is_left_alone
                two_who_roll_up_at_once_make_one_episode
                a_prompt_reads_the_five_newest_episodes_oldest_first
            }
            behaviour! { in goal, $open:
                a_goal_comes_back_with_its_family
                what_is_wrong_with_a_goal_is_named
                goals_are_listed_by_status_page_by_page
                the_last_blocker_lets_go
                a_finished_goal_stays_finished
                a_circle_of_goals_is_refused_by_name
                a_circle_closed_from_many_sides_at_once_is_refused
                blockers_finished_at_once_leave_nobody_waiting
                a_repeated_goal_is_one_goal
                goals_go_with_their_user_and_their_conversation
            }
            behaviour! { in strategy, $open:
                the_same_strategy_again_counts_and_makes_no_twin
                one_strategy_at_sixteen_hands_is_one
                what_works_more_often_ranks_higher
                meaning_finds_a_strategy_without_its_words
                a_strategy_of_a_closed_domain_is_like_none
                what_is_wrong_with_a_strategy_is_named
            }
            behaviour! { in strategy_learning, $open:
                work_that_succeeded_becomes_a_strategy_once
                like_work_counts_and_other_work_is_another_strategy
                a_strategy_goes_with_the_user_whose_words_it_has
                a_model_describes_the_work_and_rules_do_where_it_fails
                nothing_is_learned_from_calls_where_memory_is_off
            }
            behaviour! { in tool, $open:
                figures_follow_the_calls
                a_call_reported_again_counts_once
                payloads_are_kept_only_where_the_workspace_says_so
                what_is_wrong_with_a_call_is_named
                calls_go_with_their_conversation_and_figures_stay
            }
            behaviour! { in action, $open:
                every_field_of_an_action_comes_back
                an_action_reported_again_counts_once
                what_is_wrong_with_an_action_is_named
                nothing_is_captured_while_memory_is_off
                actions_are_listed_by_what_they_are
                what_was_done_is_in_the_graph
                what_was_done_goes_with_its_conversation_and_its_user
            }
            behaviour! { in sequence, $open:
                a_pause_of_more_than_five_minutes_begins_a_new_one
                a_sequence_closes_when_the_gap_has_passed
                a_late_action_opens_alters_and_joins
                a_sequence_past_midnight_is_counted_on_one_day
                changed_counts_wait_to_be_mined
                sequences_are_tallied_by_what_they_have
                runs_are_found_by_what_they_were_about
                neither_order_nor_portions_matter
                grouping_at_two_servers_counts_once
                a_clock_set_back_by_little_changes_no_order
                a_clock_set_back_by_much_is_believed
                a_clock_that_was_ahead_for_a_while_parts_nothing
                sequences_close_by_themselves_after_the_clock_was_set_back
            }
            behaviour! { in profile, $open:
                a_profile_is_merged_and_goes_with_its_user
                a_recall_tells_of_the_user_that_is_served
                a_profile_is_for_its_user_and_for_those_who_serve_all
                no_change_of_a_profile_is_lost
                a_scratchpad_is_its_agents_alone
                a_scratchpad_is_written_over_only_knowingly
            }
            behaviour! { in session, $open:
                a_session_has_all_at_hand
                context_values_live_as_long_as_they_are_told_to
                thoughts_are_added_and_the_oldest_go
                the_names_of_a_session_are_its_own
            }
            behaviour! { in timeline, $open:
                every_turn_of_a_life_is_told_once
                a_timeline_is_cut_into_pages_without_gaps_or_repeats
                events_follow_their_record_behind_a_border
                what_matters_more_is_said_to
            }
            behaviour! { in metric, $open:
                built_in_metrics_are_switched_off_and_not_deleted
                a_metric_is_made_changed_and_deleted
                what_is_wrong_with_a_metric_is_named
                one_name_at_sixteen_hands_is_one_metric
                metrics_have_a_limit_and_are_listed_page_by_page
                a_value_is_of_the_window_and_the_filter
                a_sequence_counts_until_its_window_has_passed
                the_baseline_is_the_first_fifty
                two_windows_and_two_metrics_are_compared
                the_way_that_actions_come_in_moves_no_metric
            }
            behaviour! { in benchmark, $open:
                a_day_has_one_benchmark_of_each_active_metric
                what_was_measured_is_in_the_graph
                a_trend_is_cut_into_pages_and_by_days
                no_night_is_passed_over
                two_servers_write_a_benchmark_once
                utilization_is_of_sequences_that_were_warned
                the_night_lets_patterns_go_before_it_measures
            }
            behaviour! { in token, $open:
                a_token_speaks_for_what_it_was_made_for
                every_reason_to_refuse_a_token_looks_the_same
                a_revoked_token_is_refused_from_the_next_request_on
                a_busy_token_is_refused_as_soon_as_it_is_revoked
                a_remembered_token_writes_only_while_it_stands
                admins_are_confined_to_their_own_workspace
                an_operators_token_is_for_operators_to_revoke
                only_admins_manage_tokens
                operators_see_every_token_newest_first
                a_secret_is_in_no_file
            }
            behaviour! { in memory, $open:
                a_new_memory_has_sensible_defaults
                every_field_comes_back_as_it_was_given
                what_is_wrong_with_a_memory_is_named
                a_validity_too_short_to_be_kept_is_refused
                a_batch_is_created_in_order
                a_batch_with_one_bad_item_creates_nothing_and_says_which
                a_patch_changes_what_it_names_and_empties_what_it_nulls
                a_bad_patch_is_refused_and_changes_nothing
                a_changed_text_is_found_by_its_new_words_only
                promotion_makes_a_fact_once
                a_forgotten_memory_is_nowhere_until_it_is_restored
                lists_filter_by_every_field_they_offer
                a_list_by_words_is_cut_into_pages_without_gaps_or_repeats
                no_patch_is_lost_when_many_come_at_once
                promotions_weights_and_citations_at_once_are_all_kept
            }
            behaviour! { in supersession, $open:
                the_old_one_leaves_recall_but_stays_for_audit
                a_replacement_takes_over_what_it_does_not_state
                a_chain_is_followed_to_its_live_head
                a_patch_can_name_what_replaces_a_memory
                a_circle_is_refused
                a_circle_is_refused_even_if_closed_from_both_sides_at_once
                a_suggestion_cannot_replace_a_fact
                a_batch_may_not_replace_the_same_memory_twice
                replacements_at_once_form_one_chain
                erasing_the_middle_of_a_chain_closes_the_gap
                erasing_the_head_brings_nothing_outdated_back
                a_deleted_head_must_be_restored_before_it_is_replaced
                a_patch_and_an_erasure_at_once_leave_nothing_dangling
                an_unknown_memory_cannot_be_replaced_nor_replace
            }
            behaviour! { in node, $open:
                a_node_is_found_by_any_of_its_names
                a_name_is_one_nodes_within_its_domain
                naming_an_entity_again_joins_it_to_the_node_that_is_there
                a_name_counts_within_its_channel_and_type
                a_name_may_be_its_own_alias
                names_of_two_nodes_are_a_conflict_that_names_both
                what_is_wrong_with_a_node_is_named
                a_batch_of_nodes_is_all_or_nothing
                one_name_at_sixteen_hands_is_one_node
                a_keyed_creation_is_made_once
                a_patch_changes_a_node_and_its_names
                a_deleted_node_is_nowhere_and_its_names_are_free
                an_erased_node_leaves_no_trace
                a_connection_goes_with_its_slice
                a_search_ranks_names_before_words
                a_search_stays_in_its_channel_and_workspace
                two_nodes_become_one
                one_node_becomes_two
            }
            behaviour! { in edge, $open:
                a_relation_that_ended_can_begin_again
                an_edge_joins_any_two_records
                what_is_wrong_with_an_edge_is_named
                the_same_edge_again_is_the_same_edge
                a_walk_can_be_as_of_any_moment
                a_walk_goes_level_by_level_and_round_in_no_circle
                a_walk_meets_only_the_types_it_is_told_to
                a_walk_ends_at_its_limit_and_says_so
                what_a_memory_names_is_in_the_graph
                memories_of_one_batch_share_what_they_name
            }
            behaviour! { in time, $open:
                what_was_true_at_a_moment_is_found_as_of_it
                without_a_stated_beginning_it_is_true_from_its_recording
                as_of_a_moment_before_its_replacement_the_old_one_holds
                what_we_learn_today_about_the_past_we_did_not_know_then
                a_deleted_memory_is_in_no_past
                a_window_takes_its_beginning_and_leaves_its_end
                what_holds_now_stands_above_what_held_once
            }
            behaviour! { in citation, $open:
                a_run_counts_once_however_often_it_cites
                a_run_counts_once_under_concurrency
                many_runs_at_once_are_all_counted
                what_cannot_be_counted_is_reported
                the_same_run_id_in_two_workspaces_is_two_runs
                a_long_text_of_broken_citations_is_read_in_one_pass
                deletion_and_restoration_keep_the_count
                a_hand_on_the_scale_counts_less_the_more_a_memory_is_cited
                often_cited_and_unpinned_is_recommended_for_pinning
                a_memory_is_stale_only_beyond_the_retention_window
                only_live_uncited_unpinned_suggestions_go_stale
                a_purge_erases_what_is_stale_and_nothing_else
                a_named_memory_is_purged_however_many_are_older
                what_ceased_to_be_stale_meanwhile_is_not_purged
                agents_may_not_purge_or_erase
            }
            behaviour! { in erasure, $open:
                an_erased_memory_leaves_no_trace
                a_forgotten_memory_can_still_be_erased
                erased_text_is_in_no_corner_of_a_file_that_was_rearranged
                a_receipt_counts_exactly_what_went
                what_was_promoted_goes_with_its_origin
                a_conversation_goes_with_all_that_is_its_own
                a_user_goes_with_all_that_their_tokens_made
                what_was_learned_from_a_user_goes_with_them
                a_user_with_many_records_goes_in_portions
                whoever_erases_themselves_is_not_named_by_it
                only_who_may_write_to_a_domain_erases_in_it
                a_repeated_erasure_gets_the_first_receipt
                the_audit_has_the_counts_and_not_a_word
            }
            behaviour! { in tombstone, $open:
                an_erased_text_does_not_come_back_by_itself
                whoever_may_erase_may_revive
                an_import_leaves_out_what_was_erased
                an_erased_node_does_not_come_back_by_any_of_its_names
                a_tombstone_acts_in_its_workspace_alone
                a_text_erased_and_written_at_once_ends_erased_or_written
                a_restored_backup_loses_what_was_erased_since
                a_restored_backup_loses_users_and_conversations_erased_since
                a_token_that_was_revoked_stays_so
                imported_rows_lose_what_was_erased
                what_was_erased_is_not_promoted
            }
            behaviour! { in participant, $open:
                a_conversation_goes_with_what_was_said_in_it
                an_erased_conversation_is_not_taken_up_by_itself
                thousands_of_turns_go_within_seconds
                what_a_user_said_goes_with_them
                a_restored_backup_loses_what_was_said
                a_deleted_episode_is_in_no_list_nor_prompt
            }
            behaviour! { in canary, $open:
                a_made_up_word_leaves_every_store
                a_workspace_takes_every_word_with_it
            }
            behaviour! { in idempotency, $open:
                a_repetition_gets_the_first_answer_and_has_no_effect
                every_kind_of_write_honours_its_key
                one_key_at_sixteen_hands_has_one_effect
                a_key_holds_across_servers
                a_key_is_good_for_one_request_only
                a_refused_request_leaves_its_key_free
                keys_of_two_workspaces_do_not_meet
                an_answer_is_kept_for_a_day
                a_key_out_of_bounds_is_refused
            }
            behaviour! { in access, $open:
                a_domain_is_open_until_a_grant_speaks_of_it
                the_most_particular_grant_wins
                grants_are_checked_and_replaced_as_a_whole
                what_may_not_be_read_is_like_what_never_was
                what_may_only_be_read_cannot_be_changed
                moving_and_replacing_need_both_domains
                a_hidden_successor_is_not_named_but_kept
                a_purge_leaves_what_may_not_be_written
                a_policy_reserves_its_domain_for_a_role
                a_policy_rests_on_facts_that_its_reader_sees
                a_domain_remembers_who_made_it
                a_repetition_tells_nothing_of_a_domain_closed_since
                an_explanation_counts_only_what_may_be_read
            }
            behaviour! { in audit, $open:
                a_change_is_written_down_with_its_records
                a_refusal_is_written_down
                each_level_writes_what_it_says
                a_recall_across_channels_is_written_down_without_its_query
                erased_text_leaves_the_audit_too
                whole_days_go_after_their_retention
                the_audit_is_for_admins_and_members_of_its_workspace
                entries_are_listed_page_by_page
                who_may_not_read_a_domain_learns_nothing_of_it
            }
            behaviour! { in secret, $open:
                a_key_is_kept_encrypted_replaced_and_forgotten
                a_key_needs_the_master_key_it_was_kept_with
            }
            behaviour! { in promotion, $open:
                each_threshold_holds_on_both_sides
                one_conversation_is_not_enough
                a_promotion_is_a_copy_with_its_origin_and_its_figures
                a_fact_and_its_copy_are_one_answer
                what_is_global_already_is_not_promoted
                thresholds_are_the_workspaces_own
                an_erased_fact_leaves_no_sighting
            }
            behaviour! { in job, $open:
                two_servers_run_a_due_job_once
                of_many_claims_at_once_one_is_granted
                a_server_paused_past_its_lease_has_no_effect
                a_claimed_job_is_refused_to_others_until_it_ends
                a_lost_claim_commits_nothing_on_its_way_either
                a_failure_is_written_down_and_tried_again
                a_dry_run_counts_and_changes_nothing
                jobs_are_for_admins_and_members
                an_unknown_job_is_named
            }
            behaviour! { in learning, $open:
                what_was_said_is_learned_once
                what_is_known_gets_support_instead_of_a_twin
                the_new_replaces_the_old_by_default
                what_was_said_last_holds_whatever_is_learned_first
                what_is_older_than_what_is_known_never_takes_its_place
                a_move_is_two_facts_and_no_twins
                the_old_is_kept_where_it_is_preferred
                a_correction_replaces_whatever_the_policy
                a_suggestion_does_not_overrule_a_fact
                what_was_erased_is_not_learned_again
                relations_join_entities_and_end_with_their_time
                nothing_is_learned_while_memory_is_off
                conversations_are_learned_from_when_they_rest_or_grow
                two_who_learn_at_once_learn_once
                a_model_learns_and_rules_stand_in_for_it
                what_means_the_same_is_no_twin
            }
            behaviour! { in review, $open:
                a_contradiction_waits_for_a_decision
                each_decision_does_what_it_says
                an_erased_memory_takes_its_reviews_along
            }
            behaviour! { in rollup, $open:
                a_workspace_may_have_its_turns_rolled_up_by_themselves
                nothing_goes_that_was_not_learned_from
                a_model_tells_and_an_unsound_summary_is_extracted_instead
                no_turn_is_lost_or_told_twice
            }
            behaviour! { in decay, $open:
                entities_fade_day_by_day
                what_was_inferred_fades_week_by_week
                conversations_are_archived_and_come_back_when_spoken_in
                what_faded_away_goes_unless_something_is_about_it
            }
            behaviour! { in pattern, $open:
                five_runs_and_sixty_percent_make_a_pattern
                a_pattern_is_moved_and_superseded_when_it_shifts
                what_was_learned_is_in_the_graph
                a_note_goes_with_the_user_who_wrote_it
                what_leaves_the_window_counts_no_more
                a_pattern_fades_and_goes_unless_it_is_seen
                what_concerns_an_action_is_told_before_it
                what_is_wrong_with_a_wish_for_patterns_is_named
                what_comes_of_a_warning_is_measured
                patterns_are_mined_once_and_notes_are_not_lost
                patterns_are_listed_in_every_order
            }
            behaviour! { in replay, $open:
                patterns_are_those_that_counting_finds_in_any_order
                #[ignore = "needs recorded runs: cargo xtask test, or MNEMIC_TEST_DATA and --ignored"]
                real_runs_give_the_patterns_that_counting_finds
            }
            behaviour! { in kill, $open:
                a_kill_at_any_step_of_a_job_leaves_the_rest_to_the_next_run
            }
            behaviour! { in isolation, $open:
                another_workspaces_id_is_like_one_that_never_was
                what_replaces_a_memory_cannot_be_anothers
                a_purge_does_not_reach_another_workspace
                the_same_texts_in_two_workspaces_never_mix
                a_cursor_opens_no_other_workspace
            }
            behaviour! { in slot, $open:
                a_slot_lives_for_an_hour_after_it_was_last_read
                a_slot_can_say_how_long_it_lives
                slots_of_two_workspaces_never_meet
                a_hard_delete_takes_the_slots_of_its_workspace_along
            }
            behaviour! { in recall, $open:
                what_was_written_is_found_by_words_at_once
                what_was_written_is_found_by_meaning_at_once
                meaning_finds_what_shares_no_word
                a_memory_promoted_while_it_is_embedded_still_gets_its_vector
                a_text_changed_while_it_is_embedded_gets_the_vector_of_the_new_one
                a_channel_is_searched_together_with_the_global_one
                a_kind_can_be_asked_for
                scores_fall_from_the_best_match_down
                among_none_nothing_is_found
                facts_pins_and_weights_raise_their_memories
                what_may_not_be_seen_never_crowds_out_what_may
                what_may_not_be_seen_is_not_among_the_nearest
                techniques_can_be_switched_off
                an_explanation_says_what_found_each_item_and_why_it_stands_there
                an_answer_says_what_could_not_serve
                a_recall_counts_as_an_access_of_what_it_returned
                a_running_server_counts_accesses_by_itself
                accesses_do_not_disturb_changes_and_citations
                text_of_any_script_is_found
                a_query_out_of_bounds_is_refused
                vectors_of_two_models_are_never_compared
                words_serve_while_a_new_model_moves_in
                reembedding_fills_what_lacks_a_vector
                a_restored_memory_is_found_by_meaning_again
            }
            behaviour! { in entity, $open:
                a_name_leads_to_a_fact_that_shares_no_word_with_the_query
                what_is_next_to_an_entity_is_told_behind_it
                meaning_finds_an_entity_behind_those_that_are_named
                the_nearest_nodes_follow_every_change
                what_is_closed_to_a_role_is_no_entity_nor_told_of_one
                what_entities_lead_to_passes_the_same_filters
                many_memories_of_an_entity_do_not_push_out_what_words_find
                a_query_that_names_nobody_finds_what_it_found_without
                parts_of_the_answer_can_be_left_out
            }
            behaviour! { in index, $open:
                who_leaves_while_an_index_is_built_leaves_it_to_the_next
                an_index_built_anew_answers_as_the_one_that_grew
                searches_are_made_ready_before_anybody_asks
            }
            $(behaviour! { in index, $cramped:
                evicted_indexes_come_back_with_the_same_answers
                without_room_nothing_is_made_ready
            })?

            #[test]
            fn any_history_keeps_the_invariants() {
                crate::history::any_history_keeps_the_invariants($open);
            }

            #[test]
            fn whatever_is_granted_is_filtered_before_ranking() {
                crate::grant::whatever_is_granted_is_filtered_before_ranking($open);
            }
        }
    };
    (in $noun:ident, $open:path: $($(#[$attribute:meta])* $test:ident)*) => {
        $(
            $(#[$attribute])*
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                crate::$noun::$test(crate::world::World::new($open()).await).await;
            }
        )*
    };
}

behaviour!(embedded, open: crate::place::embedded, cramped: crate::place::embedded_cramped);
behaviour!(shared, open: crate::place::shared);
