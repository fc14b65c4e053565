Bi1J@?Nх@Еf;=Б│$A9?ц@┘≤b>YTA@З@y	│Aдй
Aфо@I6GAZX@hа3AiaxA^AA┼╖~A